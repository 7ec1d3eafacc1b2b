// What became of a copy, for people and programs.
import type { PostgresCopy } from "@clew/store-postgres";
import type { EngineStores } from "./engine-stores.ts";
import type { LeftBehind } from "./walk-home.ts";

/** What a copy did, or, where it only looked, would do. */
export interface CopyResult {
  /** Keys of sessions that were copied, or went on since. */
  copied: string[];
  /** How many were the same on both sides. */
  same: number;
  /** Keys of those that went on at the other side, where they stay as they are. */
  ahead: string[];
  /** Keys of those that were deleted at the side that is copied from, or at the other one. */
  deleted: string[];
  /** Other files that were copied, such as those beside transcripts. */
  files: number;
  /** Of what was copied. */
  bytes: number;
  /** Days of what model calls cost that were copied, or went on since. */
  costDays: number;
  /** What could not be copied. */
  left: LeftBehind[];
  /** Keys of those whose messages got other numbers, as another home's have theirs. */
  renumbered: string[];
  /** What is of its home alone, and stays there. */
  stays: LeftBehind[];
}

export const nothingYet = (): CopyResult => ({
  ...{
    copied: [],
    same: 0,
    ahead: [],
    deleted: [],
    files: 0,
    bytes: 0,
    costDays: 0,
    left: [],
    renumbered: [],
    stays: [],
  },
});

/** How a copy is done. */
export interface CopyWay {
  /** True: nothing is changed. */
  isCheck: boolean;
  signal: AbortSignal;
  /** How far it is. */
  says(text: string): void;
  home: string;
  homeId: string;
  copy: PostgresCopy;
  /** Of the home. */
  engines: EngineStores;
}

/** What a copy into a database goes by. */
export type CopyIn = CopyWay;

/** What a copy into a home goes by. */
export type CopyOut = CopyWay;

/** What can be done about it. */
export const CHANGED = "it changed while it was copied; copy again";
