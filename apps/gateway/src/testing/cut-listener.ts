// Listens to a turn over connections that break, as a client that comes back does.
import { setTimeout as after } from "node:timers/promises";
import type { StreamedEvent } from "../http/event-stream.ts";
import { readPlacedEvents } from "../http/read-events.ts";

export interface CutListener {
  /** One connection; `since`: id of the last event that was heard. */
  ask(since: string | undefined, attempt: number): Promise<Response>;
  /** After so many events each connection breaks; behind the last of them none does. */
  cuts: readonly number[];
}

class NoId extends Error {}

/** All that was heard, of all connections, until the end was told. */
export async function listenWithCuts({ ask, cuts }: CutListener): Promise<StreamedEvent[]> {
  const heard: StreamedEvent[] = [];
  let since: string | undefined;
  for (let attempt = 0; ; attempt++) {
    const response = await ask(since, attempt).catch(() => undefined);
    if (response?.status === 204) return heard;
    if (response?.status !== 200) {
      await response?.body?.cancel();
      await after(20);
      continue;
    }
    let left = cuts[attempt] ?? Number.POSITIVE_INFINITY;
    try {
      for await (const { event, id } of readPlacedEvents(response.body!)) {
        if (id === "") throw new NoId(JSON.stringify(event));
        heard.push(event);
        since = id;
        if (event.type === "done" || event.type === "error") return heard;
        if (--left <= 0) break;
      }
    } catch (error) {
      if (error instanceof NoId) throw error;
    }
  }
}

/**
 * What a client has in the end: without what is void, pieces of a text as one. Throws where an
 * entry is told twice.
 */
export function whatIsHeard(heard: readonly StreamedEvent[]): StreamedEvent[] {
  let kept: StreamedEvent[] = [];
  for (const event of heard) {
    if (event.type === "queued" || event.type === "waiting") continue;
    if (event.type === "restarted") {
      const { keeps } = event;
      const at = kept.findLastIndex((each) => "entryId" in each && each.entryId === keeps);
      if (keeps !== null && at < 0) throw new Error(`nobody told ${keeps}`);
      kept = kept.slice(0, at + 1);
      continue;
    }
    const last = kept.at(-1);
    if (
      (event.type === "text" || event.type === "thinking") &&
      last !== undefined &&
      last.type === event.type
    )
      kept[kept.length - 1] = { ...event, delta: last.delta + event.delta };
    else kept.push(event);
  }
  const ids = kept.flatMap((event) => ("entryId" in event ? [event.entryId] : []));
  if (new Set(ids).size < ids.length) throw new Error(`told twice: ${ids.join()}`);
  return kept;
}
