// What a conformance case is.
import type { ContextEngine, EngineMethod } from "../contract/engine.ts";
import type { CaseContext } from "./case-context.ts";

export const CASE_GROUPS = [
  "contract",
  "host",
  "ingest",
  "idempotence",
  "after-turn",
  "assemble",
  "order",
  "pairing",
  "budget",
  "determinism",
  "input",
  "compact",
  "abort",
  "commit",
  "crash",
  "subagents",
  "dispose",
  "isolation",
  "sessions",
  "process",
] as const;

/** Cases about the same part of the contract; the part of a case's id before the slash. */
export type CaseGroup = (typeof CASE_GROUPS)[number];

/** One rule of the contract, as a program. */
export interface ConformanceCase {
  /** `<group>/<name>`; never changes once published. */
  readonly id: string;
  readonly group: CaseGroup;
  /** The rule, as a sentence about the engine. */
  readonly title: string;
  /** The words of the contract (`src/contract/`) from which it follows. */
  readonly rule: string;
  /** Which engines the case is for, when not for all: "engines with commitTurn". */
  readonly appliesTo?: string;
  /** Reads `info` and which methods exist, nothing else. Absent = every engine. */
  when?(engine: ContextEngine): boolean;
  /** Resolves when the engine keeps the rule; else throws a CaseFailure. */
  run(context: CaseContext): Promise<void>;
}

/** Thrown by a case that finds out only as it runs that it is not for this engine. */
export class NotApplicable extends Error {
  constructor(appliesTo: string) {
    super(`Only for ${appliesTo}.`);
  }
}

export const ownsCompaction = (engine: ContextEngine) => engine.info.ownsCompaction === true;

/** For a case about one optional method. */
export function onlyWith(
  ...methods: (EngineMethod | "dispose")[]
): Required<Pick<ConformanceCase, "appliesTo" | "when">> {
  return {
    appliesTo: `engines with ${methods.join(" and ")}`,
    when: (engine) => methods.every((method) => typeof engine[method] === "function"),
  };
}

export const ownersOnly = { appliesTo: "engines that own compaction", when: ownsCompaction };

/** Ends the case unless the engine owns compaction now, or does not: some own it only in time. */
export function asOwner(engine: ContextEngine, owns: boolean): void {
  if (ownsCompaction(engine) !== owns)
    throw new NotApplicable(owns ? ownersOnly.appliesTo : "engines that own no compaction");
}
