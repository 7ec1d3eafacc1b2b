// Knows what of each session could not be stored, and in which order it came.
import type { SessionNotes } from "../memory/journal-lines.ts";
import type { DoorTurn } from "../turn/door-turn.ts";

export interface UnstoredRequest {
  turn: DoorTurn;
  notes: SessionNotes;
}

export interface Unstored {
  /** What comes behind something that is not stored waits, too, so that the order stays. */
  isBehind(key: string): boolean;
  /** The request of this turn is not stored; it is tried once more when its reply is. */
  add(request: UnstoredRequest, why: string): void;
  /** What is to be stored before the reply to a turn, in its order; none: its request is stored. */
  upTo(turn: DoorTurn): readonly UnstoredRequest[];
  /** It is stored now. */
  remove(request: UnstoredRequest): void;
  /** The session is known to hold more than is stored, until that is forgotten. */
  doubt(key: string, why: string): void;
  isDoubted(key: string): boolean;
  doubted(): readonly string[];
  /** No more is known of the session than is stored. */
  settle(key: string): void;
  /** The session is there no more. */
  forget(key: string): void;
  /** Sessions that are answered and not wholly stored, each with why it was not at first. */
  list(): UnstoredSession[];
}

export interface UnstoredSession {
  /** Canonical. */
  session: string;
  why: string;
}

export function createUnstored(): Unstored {
  const waiting = new Map<string, UnstoredRequest[]>();
  const doubted = new Set<string>();
  /** What comes behind it fails for that reason alone. */
  const reasons = new Map<string, string>();
  const noteWhy = (key: string, why: string) => {
    if (!reasons.has(key)) reasons.set(key, why);
  };
  return {
    isBehind: (key) => waiting.has(key) || doubted.has(key),
    add(request, why) {
      const { key } = request.turn;
      noteWhy(key, why);
      // Its client brings it again.
      if (doubted.has(key)) return;
      waiting.set(key, [...(waiting.get(key) ?? []), request]);
    },
    upTo(turn) {
      const all = waiting.get(turn.key) ?? [];
      return all.slice(0, all.findIndex((request) => request.turn === turn) + 1);
    },
    remove({ turn }) {
      const left = (waiting.get(turn.key) ?? []).filter((request) => request.turn !== turn);
      if (left.length > 0) waiting.set(turn.key, left);
      else {
        waiting.delete(turn.key);
        reasons.delete(turn.key);
      }
    },
    doubt(key, why) {
      noteWhy(key, why);
      waiting.delete(key);
      doubted.add(key);
    },
    isDoubted: (key) => doubted.has(key),
    doubted: () => [...doubted],
    settle(key) {
      doubted.delete(key);
      reasons.delete(key);
    },
    forget(key) {
      waiting.delete(key);
      doubted.delete(key);
      reasons.delete(key);
    },
    list: () => [...reasons].map(([session, why]) => ({ session, why })),
  };
}
