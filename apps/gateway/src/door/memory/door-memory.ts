// What the door knows of all sessions, within bounds, and again after a restart.

import type { DoorJournals } from "../../storage/door-journals.ts";
import { type DoorEvent, KnownRequests } from "../match/known-requests.ts";
import { NO_NOTES, type ReadJournal, readJournal, type SessionNotes } from "./journal-lines.ts";

export interface DoorMemory {
  readonly known: KnownRequests;
  /** Resolves when what was known before the start is known again. */
  ready(): Promise<void>;
  learn(event: DoorEvent): void;
  /** Of this session nothing else is known than this. Undefined: nothing is. */
  relearn(session: string, journal: ReadJournal | undefined): void;
  notesOf(session: string): SessionNotes;
  note(session: string, notes: SessionNotes): void;
}

export interface DoorMemoryBounds {
  sessions: number;
  /** Tokens, ends and calls of all sessions; each takes about 100 bytes. */
  items: number;
  /** Of journals that are read at a start. */
  journalBytes: number;
}

const BOUNDS: DoorMemoryBounds = {
  sessions: 10_000,
  items: 1_500_000,
  journalBytes: 64 * 2 ** 20,
};

/** Of the sessions of the door's agent. */
export function createDoorMemory(
  { journals, agentId }: { journals: Pick<DoorJournals, "all">; agentId: string },
  bounds: Partial<DoorMemoryBounds> = {},
): DoorMemory {
  const { sessions: mostSessions, items: mostItems, journalBytes } = { ...BOUNDS, ...bounds };
  const known = new KnownRequests();
  const notes = new Map<string, SessionNotes>();
  const weights = new Map<string, number>();
  let weight = 0;
  let loading: Promise<void> | undefined;
  const forget = (session: string) => {
    known.forget(session);
    notes.delete(session);
    weight -= weights.get(session) ?? 0;
    weights.delete(session);
  };
  const learn = (event: DoorEvent) => {
    known.learn(event);
    const added = weightOf(event);
    weights.set(event.session, (weights.get(event.session) ?? 0) + added);
    weight += added;
    const isTooMuch = () => weights.size > mostSessions || weight > mostItems;
    if (!isTooMuch()) return;
    for (const { id } of known.sessions()) {
      if (!isTooMuch() || id === event.session) break;
      forget(id);
    }
  };
  const learnAll = (journal: ReadJournal) => {
    for (const { event } of journal.lines) learn(event);
    const last = journal.lines.at(-1);
    if (last !== undefined) notes.set(journal.session, last.notes);
  };
  const load = async () => {
    const bounds = { maxBytes: journalBytes, maxFiles: mostSessions };
    for await (const text of journals.all(agentId, bounds)) {
      const journal = readJournal(text);
      if (journal !== undefined) learnAll(journal);
    }
    known.closeAll();
  };
  return {
    known,
    learn,
    relearn(session, journal) {
      forget(session);
      if (journal !== undefined) learnAll(journal);
      known.closeAll(session);
    },
    ready() {
      loading ??= load();
      return loading;
    },
    notesOf: (session) => notes.get(session) ?? NO_NOTES,
    note: (session, each) => void notes.set(session, each),
  };
}

const weightOf = (event: DoorEvent): number =>
  event.type === "request"
    ? event.added.length + event.results.length + 4
    : event.calls.length + event.said.length + 4 + charsOf(event.summaries ?? []) / ITEM_CHARS;

const charsOf = (texts: readonly string[]) => texts.reduce((sum, { length }) => sum + length, 0);

/** A text weighs as much as items of so many characters. */
const ITEM_CHARS = 100;
