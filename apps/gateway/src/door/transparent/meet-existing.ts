// Says which session a request belongs to, and forgets those that another gateway deleted.
import type { DoorParts } from "../call/parts.ts";
import type { DoorMemory } from "../memory/door-memory.ts";
import type { Recorder } from "../record/recorder.ts";
import { type MetTurn, meetTurn } from "../turn/door-turn.ts";

interface MeetingParts extends Pick<DoorParts, "host" | "underWay"> {
  sessions: Pick<DoorParts["sessions"], "isThere">;
  memory: DoorMemory;
  recorder: Pick<Recorder, "unstored" | "forget">;
}

/** Nothing is awaited once it is known, so that no two requests begin one conversation. */
export async function meetExisting(
  parts: MeetingParts,
  asked: Pick<MetTurn, "call" | "upstream">,
): Promise<MetTurn> {
  const { memory, recorder } = parts;
  for (const looked = new Set<string>(); ; ) {
    const met = meetTurn(parts, asked);
    const isThere = looked.has(met.key) ? undefined : lookFor(parts, met);
    if (isThere === undefined) return met;
    looked.add(met.key);
    // Where nobody can say, whoever stores it will be told.
    if (await isThere.catch(() => true)) continue;
    memory.relearn(met.key, undefined);
    recorder.forget(met.key);
  }
}

/** What is under way, or not stored yet, is nowhere else. */
function lookFor(
  { sessions, underWay, recorder }: MeetingParts,
  { key, isNew }: MetTurn,
): Promise<boolean> | undefined {
  if (isNew || underWay.busy().has(key)) return undefined;
  if (recorder.unstored().some(({ session }) => session === key)) return undefined;
  return sessions.isThere(key);
}
