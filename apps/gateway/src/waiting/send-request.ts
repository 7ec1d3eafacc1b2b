// What somebody says in a session, and how.
import type { TurnEvent, TurnRequest } from "@clew/engine-core";
import type { UserBlock } from "@clew/plugin-sdk/core";
import type { NewTranscriptEntry, TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { WhenBusy } from "../config/when-busy.ts";
import type { TurnClient } from "../host/turn-client.ts";
import type { Conversation } from "../sessions/conversations.ts";

export interface SendRequest {
  /** Short name or canonical key. */
  key: string;
  content: string | UserBlock[];
  signal?: AbortSignal | undefined;
  onEvent?: ((event: TurnEvent) => void) | undefined;
  /** Tools that the one who speaks lets run; "*" = all. Others are asked for. Absent: none. */
  allowTools?: readonly string[] | undefined;
  /** What began the turn. Absent: a person. */
  kind?: TurnRequest["kind"] | undefined;
  /** Who speaks by a model API, and what it brings. Absent: nobody does. */
  client?: TurnClient | undefined;
  /** False: nobody reads a reply while it is written. Absent: where there is an `onEvent`. */
  isWatched?: boolean | undefined;
  /** What becomes of it while a reply is being written. Absent: as the settings say. */
  whenBusy?: WhenBusy | undefined;
  /** The sender's own name for it: what was sent under it before is not said again. */
  idempotencyKey?: string | undefined;
  /** What is said when its turn has come. Absent: `content`, behind what is there. */
  atItsTurn?: ((branch: readonly TranscriptEntry[]) => SaidAtTurn) | undefined;
  /** What is done once its turn is over, before the next one. Throws nothing. Absent: nothing. */
  afterTurn?: ((conversation: Conversation) => Promise<void>) | undefined;
}

export type SaidAtTurn =
  | {
      content: string | UserBlock[];
      /** How many entries it follows; the others are not shown any more. Absent: all. */
      keep?: number;
    }
  /** Nothing: this entry says it already, or has come before what it was to follow. */
  | { entryId: string }
  /** Nothing: the turn that this entry began goes on behind these. */
  | { goesOnFrom: string; results: readonly NewTranscriptEntry[] };
