// One session of a script, with what its engine was told of it.
import type { AgentMessage } from "../../contract/message.ts";
import type { Transcript } from "./transcript.ts";

/** A turn as engines are told of it. */
export interface ToldTurn {
  ids: string[];
  /** Notes that were stored before it. */
  notes: string[];
  heartbeat: boolean;
}

/** What a backend goes on from as long as the epoch stays. */
interface Thread {
  epoch: string;
  budget: number | null;
  given: readonly AgentMessage[];
  shown: readonly AgentMessage[];
}

export class Talk {
  transcript: Transcript;
  missed: ToldTurn[] = [];
  notes: string[] = [];
  newest: ToldTurn | undefined;
  /** Turns that it was told of, those of the present branch, in order. */
  told: ToldTurn[] = [];
  /** Ids that calls brought which returned, under the session's present id. */
  owed = new Set<string>();
  committed = new Set<string>();
  /** Ids that the engine said it did not take in, of messages that were new to it. */
  denied = new Set<string>();
  /** Whether every view so far had room for everything, and nothing was compacted. */
  isAmple = true;
  /** Whether less room than that was asked for once since the newest turn was told. */
  isTight = false;
  /** Whether the engine itself may have compacted it. */
  isCompacted = false;
  /**
   * What the engine said in words of its own after its last compaction, and the room that it was
   * given. Undefined: none was.
   */
  summed: { text: string; room: number } | undefined;
  /** What the engine said in words of its own where it showed everything; see `ownWords`. */
  readonly usual: Set<string>;
  /** Ids of what the engine may have seen, in a file or a history. */
  readonly seen = new Set<string>();
  /** What it counted of messages that were new to it. */
  readonly counts: { ids: readonly string[]; counted: number }[] = [];
  /** Ids of what its last compaction took out of sight. */
  hidden: ReadonlySet<string> = new Set();
  /** In which life of the engine it was bootstrapped last. Undefined: in none. */
  bootstrappedIn: number | undefined;
  turns = 0;
  /** What a backend's own thread was given. */
  thread: Thread | undefined;

  constructor(transcript: Transcript, usual: ReadonlySet<string>) {
    this.transcript = transcript;
    this.usual = new Set(usual);
  }

  /** What is not on the present branch is not told any more. */
  forget(): void {
    const active = new Set(this.transcript.items().map(({ id }) => id));
    this.missed = this.missed.filter(({ ids }) => ids.every((id) => active.has(id)));
    this.notes = this.notes.filter((id) => active.has(id));
    this.told = this.told.filter(({ ids }) => ids.every((id) => active.has(id)));
    this.newest = undefined;
    this.readsOtherwise();
  }

  /** What was compacted is not what it was. */
  readsOtherwise(): void {
    this.summed = undefined;
    this.hidden = new Set();
  }

  /** Its session goes on under another id, of which nobody was told anything. */
  beginsAgain(): void {
    this.owed.clear();
    this.newest = undefined;
    this.told = [];
    this.hidden = new Set();
    this.summed = undefined;
  }
}
