// What the process of a contestant can be asked for.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { BenchSearch } from "./contestant.ts";
import type { EngineChoice } from "./plugin-engine.ts";
import type { Cost } from "./samples.ts";
import type { SessionShape } from "./turns.ts";

/** Which contestant, and of what session. */
export interface Entrant {
  folder: string;
  /** Null = the floor. */
  engine: EngineChoice | null;
  shape: SessionShape;
}

/** What a process may be asked for, and what it answers. */
export interface Tasks {
  /** Makes the contestant. */
  open: { ask: Entrant; answer: Cost };
  /** Tells whole turns until so many messages were told, its tidying after each included. */
  tell: { ask: { messages: number }; answer: Telling };
  /** Turns as a host runs them: an assembly before each model call, then the turn is told. */
  live: { ask: { turns: number }; answer: { calls: Cost[]; bytes: number } };
  /** Assemblies of a history of which `length` messages are handed over. */
  assemble: { ask: { length: number; times: number }; answer: { costs: Cost[]; shown: number } };
  search: { ask: { search: BenchSearch; times: number }; answer: { costs: Cost[]; text: string } };
  /** The first assembly after a restart: the process itself is new. */
  restart: { ask: Entrant & { newest: readonly AgentMessage[] }; answer: Cost };
  newest: { ask: object; answer: Ending & { messages: readonly AgentMessage[] } };
  memory: { ask: object; answer: { peakBytes: number } };
  close: { ask: object; answer: object };
}

/** A request's ticket, and the last of its text, which only a snippet of it holds. */
export interface Ending {
  ticket: string;
  text: string;
}

/** What telling came to. */
export interface Telling {
  messages: number;
  /** Of them, as JSON in UTF-8. */
  bytes: number;
  cost: Cost;
  /** The turn that took longest. */
  worstTurn: Cost;
  /** The longest time for which the tidying kept others waiting. */
  worstStretch: Cost;
}

/** Messages that a host hands over where it does not hand over everything. */
export const WINDOW = 60;
