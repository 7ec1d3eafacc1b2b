// What is asked of everything that the speed of storing and finding is measured of.
import type { AgentMessage } from "@clew/plugin-sdk/core";

/** What a search is for. */
export interface BenchSearch {
  mode: "full_text" | "regex";
  pattern: string;
}

/** A store of one session's messages that can be asked like an engine. */
export interface Contestant {
  /** What a host does for itself before it tells of them: not the contestant's cost. */
  hostWrites(messages: readonly AgentMessage[]): Promise<void>;
  /** The messages of a turn that is over. */
  tell(messages: readonly AgentMessage[]): Promise<void>;
  /** What a host lets it do in the background, after each turn. */
  tidy(): Promise<void>;
  /** What a model is shown; the number of its messages. */
  assemble(messages: readonly AgentMessage[]): Promise<number>;
  /** The text a model would be shown of what was found. */
  search(search: BenchSearch): Promise<string>;
  close(): Promise<void>;
}

/** Tokens that every assembly may use. */
export const TOKEN_BUDGET = 128_000;
/** How many hits every search may show. */
export const MOST_HITS = 50;
