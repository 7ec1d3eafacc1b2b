// Parses our source files, and walks through their syntax.
import { parseAst } from "vitest/node";

/** A node of ESTree with TypeScript's nodes, as the parser gives it. */
export interface SyntaxNode {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

export type Language = "ts" | "tsx" | "js";

export const languageOf = (path: string): Language =>
  path.endsWith("x") ? "tsx" : path.endsWith("ts") ? "ts" : "js";

/** Every node of a source, each before those below it, with the nodes above it, nearest first. */
export function* nodesOf(
  code: string,
  language: Language = "ts",
): Generator<{ node: SyntaxNode; above: readonly SyntaxNode[] }> {
  yield* walk(parseAst(code, { lang: language }) as unknown as SyntaxNode, []);
}

function* walk(
  node: SyntaxNode,
  above: readonly SyntaxNode[],
): Generator<{ node: SyntaxNode; above: readonly SyntaxNode[] }> {
  yield { node, above };
  const inner = [node, ...above];
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value])
      if (isNode(child)) yield* walk(child, inner);
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

/** The number of the line that an offset is on, from 1. */
export const lineAt = (code: string, offset: number): number =>
  code.slice(0, offset).split("\n").length;
