// How hard a model shall think, in the words of programs that ask it themselves.
import type { ExecutionTurn } from "@clew/engine-core";

const WORDS: ReadonlySet<string> = new Set(["minimal", "low", "medium", "high", "xhigh", "max"]);

/** Pure. Undefined: as the program does by itself; "off" = not at all. */
export function effortOf({ ask }: Pick<ExecutionTurn, "ask">): string | undefined {
  const effort = ask.reasoning?.effort;
  return effort === "off" || (effort !== undefined && WORDS.has(effort)) ? effort : undefined;
}

/** Pure. In Codex's word. */
export const codexEffort = (effort: string): string => (effort === "off" ? "none" : effort);
