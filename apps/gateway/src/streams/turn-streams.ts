// Keeps the rings of turns that run, and for a while of those that are over.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { createTurnRing, type TurnRing } from "./turn-ring.ts";

/** `Over`: what is known of a turn's end. */
export interface TurnStreams<Over = unknown> {
  /** A turn begins in a session, by canonical key, which answers a prompt. */
  begin(key: string, prompt?: AgentMessage): TurnRing<Over>;
  /** Of the turn that runs there now. */
  running(key: string): TurnRing<Over> | undefined;
  /** With this id, of a turn that runs or is not over for long. */
  find(key: string, id: string): TurnRing<Over> | undefined;
  /** The newest that told a stored entry. */
  telling(key: string, entryId: string): TurnRing<Over> | undefined;
  /** Of all sessions. */
  all(): Iterable<[key: string, ring: TurnRing<Over>]>;
}

/** How long a client may take to come back, and hear the end as it was told, ms. */
const KEPT_MS = 120_000;
/** What turns that are over may keep together, bytes. */
const KEPT_BYTES = 8 * 2 ** 20;
/** Turns that are over. */
const KEPT_RINGS = 200;

export function createTurnStreams<Over = unknown>({
  now = () => performance.now(),
} = {}): TurnStreams<Over> {
  const running = new Map<string, TurnRing<Over>>();
  /** Oldest first. */
  let over: { key: string; ring: TurnRing<Over>; at: number }[] = [];
  const letGo = () => {
    let bytes = over.reduce((sum, { ring }) => sum + ring.bytes(), 0);
    let count = over.length;
    over = over.filter(({ ring, at }) => {
      const isKept = now() - at <= KEPT_MS && bytes <= KEPT_BYTES && count <= KEPT_RINGS;
      if (!isKept) {
        bytes -= ring.bytes();
        count--;
      }
      return isKept;
    });
  };
  const ofSession = (key: string): TurnRing<Over>[] => {
    letGo();
    const current = running.get(key);
    const before = over.flatMap((one) => (one.key === key ? [one.ring] : []));
    return current === undefined ? before : [...before, current];
  };
  return {
    begin(key, prompt) {
      const ring = createTurnRing<Over>({ prompt });
      running.set(key, ring);
      ring.follow((event) => {
        if (event !== undefined) return;
        if (running.get(key) === ring) running.delete(key);
        over.push({ key, ring, at: now() });
        letGo();
      });
      return ring;
    },
    running: (key) => running.get(key),
    find: (key, id) => ofSession(key).find((ring) => ring.id === id),
    telling: (key, entryId) =>
      ofSession(key).findLast((ring) => ring.numberOf(entryId) !== undefined),
    all: () => running,
  };
}
