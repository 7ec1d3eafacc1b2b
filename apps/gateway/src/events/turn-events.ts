// Tells those who follow a gateway what happens in one turn.
import type { SentCall, TurnEvent, TurnRequest, TurnResult } from "@clew/engine-core";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { projectMessageForDisplay } from "@clew/transcript-policy";
import { callId } from "../inspect/placed-call.ts";
import { noTokens, planSources, sourceOf } from "../inspect/sources.ts";
import { brokenEnding, endingOf } from "./ending.ts";
import type { EventHub } from "./hub.ts";
import type { LiveCall, RunningTurn } from "./shapes.ts";

export interface ToldTurn {
  /** Canonical key. */
  key: string;
  kind: RunningTurn["kind"];
  prompt: TurnRequest["prompt"];
  /** True: the session is there from its first message on. */
  isNew: boolean;
  /** The ordinal of the turn in its session; undefined = not known. */
  now: () => number | undefined;
}

/** Runs the turn, which tells what happens by `onEvent`; `done` is told however it ends. */
export async function tellTurn(
  hub: EventHub,
  turn: ToldTurn,
  run: (onEvent: (event: TurnEvent) => void) => Promise<TurnResult>,
): Promise<TurnResult> {
  const { key: session, kind } = turn;
  hub.publish({ type: "started", session, kind });
  try {
    const result = await run(tellerOf(hub, turn));
    hub.publish({ type: "done", session, ...endingOf(result) });
    return result;
  } catch (error) {
    hub.publish({ type: "done", session, ...brokenEnding(error) });
    throw error;
  }
}

/** Outside of a turn, as in a compaction that is asked for, there is nothing to be accepted. */
export function tellerOf(
  hub: EventHub,
  { key: session, prompt, isNew, now = () => undefined }: Pick<ToldTurn, "key"> & Partial<ToldTurn>,
): (event: TurnEvent) => void {
  let calls = 0;
  return (event) => {
    switch (event.type) {
      case "accepted": {
        const message = prompt && shown({ role: "user", ...prompt });
        if (isNew) hub.publish({ type: "session", session, change: "created" });
        return hub.publish({ type: "accepted", session, entryId: event.entryId, ...message });
      }
      case "call":
        calls++;
        return hub.publish({
          type: "call",
          session,
          call: liveCall(event.call, { turn: now(), number: calls }),
        });
      case "text":
      case "thinking":
        return hub.delta(session, event.type, event.delta);
      case "message":
        return hub.publish({
          ...{ type: "message", session, entryId: event.entryId },
          ...shown(event.message),
        });
      default:
        // These name neither what is in the way of people nor what is secret.
        return hub.publish({ session, ...event });
    }
  };
}

function shown(stored: AgentMessage): { message?: AgentMessage } {
  const message = projectMessageForDisplay(stored);
  return message === undefined ? {} : { message };
}

/** Pure. With all its messages. */
export function liveCall(
  sent: Pick<
    SentCall,
    "turnId" | "model" | "requestHash" | "size" | "budget" | "system" | "tools" | "messages"
  >,
  { turn, number }: { turn: number | undefined; number: number },
): LiveCall {
  const { turnId, model, requestHash, size, budget, system, tools, messages } = sent;
  return {
    ...(turn !== undefined && { id: callId({ turn, number }) }),
    ...{ turnId, number, model, requestHash, budget: { ...budget } },
    ...(size !== undefined && { size: { ...size } }),
    tokens: planSources(estimatesOf(sent), null),
    system: [...system],
    tools: [...tools],
    messages: { kept: 0, items: [...messages] },
  };
}

function estimatesOf({ system, tools, messages }: Pick<SentCall, "system" | "tools" | "messages">) {
  const estimates = noTokens();
  for (const part of [system, tools, messages])
    for (const item of part) estimates[sourceOf(item)] += item.tokens;
  return estimates;
}
