// What is known of the turns under way, for those who begin to follow them now.
import type { LiveCall, NewEvent, RunningTurn } from "./shapes.ts";

export type RunningTurns = Map<string, RunningTurn>;

/** Changes `running` as the event says. `at` is ISO 8601. */
export function takeEvent(running: RunningTurns, event: NewEvent, at: string): void {
  if (event.type === "started") {
    const { session, kind } = event;
    const nothing = { prompt: null, call: null, text: "", thinking: "", tools: [] };
    running.set(session, { session, kind, startedAt: at, ...nothing });
    return;
  }
  const turn =
    "session" in event && event.session !== null ? running.get(event.session) : undefined;
  if (turn === undefined) return;
  switch (event.type) {
    case "accepted": {
      const { entryId, message } = event;
      turn.prompt = { entryId, ...(message !== undefined && { message }) };
      return;
    }
    case "call":
      // What came of the call before is stored by now, or was given up.
      Object.assign(turn, { call: event.call, text: "", thinking: "" });
      return;
    case "text":
      turn.text += event.delta;
      return;
    case "thinking":
      turn.thinking += event.delta;
      return;
    case "message":
      Object.assign(turn, { text: "", thinking: "" });
      return;
    case "tool_start":
      turn.tools.push(event.call);
      return;
    case "tool_end":
      turn.tools = turn.tools.filter(({ id }) => id !== event.callId);
      return;
    case "done":
      running.delete(event.session);
  }
}

/** Pure. The call as whoever knows the one before it in the turn is told it. */
export function sinceLast(call: LiveCall, before: LiveCall | null | undefined): LiveCall {
  const { items } = call.messages;
  const known = before?.messages.items ?? [];
  if (items === null || known.length === 0) return call;
  const isKept = (index: number) =>
    items[index] === known[index] || items[index]?.hash === known[index]?.hash;
  let kept = 0;
  while (kept < items.length && kept < known.length && isKept(kept)) kept++;
  return { ...call, messages: { kept, items: items.slice(kept) } };
}
