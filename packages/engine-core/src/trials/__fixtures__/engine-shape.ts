// How an engine under test is built.
import type { ContextEngine } from "@clew/plugin-sdk/core";

/** How an engine under test is built. */
export interface EngineShape {
  id: string;
  /** How it takes what is new. */
  takes: "afterTurn" | "ingestBatch" | "ingest" | "commitTurn";
  /**
   * Whether it reads the transcript before a run: never, the first time, each time, or each time
   * its newest two messages.
   */
  bootstraps: "never" | "once" | "always" | "newest";
  /**
   * What it does when asked to compact; a move copies the newest turn of the file, what it was told
   * of it, or its prompt.
   */
  compacts: "delegates" | "covers" | "moves" | "moves what it knows" | "moves prompts";
  ownsCompaction: boolean;
  /** Whether it returns the messages it was given or JSON copies of them. */
  returns: "given" | "copies";
  /** Whether it tidies up behind the reply. */
  inBackground: boolean;
  /** How it treats its parameters. Absent: with care. */
  manners?: Manners;
  /** Answers in its place, and is its own store: it outlives every process. */
  instead?: ContextEngine;
}

/** Whether it refuses parameters of later contracts, and changes what it is given in place. */
export type Manners = "careful" | "strict" | "rough" | "strict and rough";

/** True for engines that a host need not tell what was there before their first turn. */
export const readsThePast = ({ bootstraps }: EngineShape): boolean =>
  bootstraps === "once" || bootstraps === "always";
