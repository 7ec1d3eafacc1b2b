// Where the tokens of a request come from.
import type { ModelCallReport, ReportItem } from "@clew/engine-core";
import { promptTokensOf } from "@clew/plugin-sdk/host";
import { shareOut } from "../reports/share-out.ts";
import type { SourceTokens } from "./shapes/calls.ts";

export type Source = Exclude<keyof SourceTokens, "total">;

export const SOURCES = [
  ...(["system", "tools", "summaries", "messages", "replies", "toolOutput", "notes"] as const),
  "program",
] satisfies Source[];

const BY_ROLE: Readonly<Record<string, Source>> = {
  user: "messages",
  bashExecution: "messages",
  assistant: "replies",
  toolResult: "toolOutput",
  compactionSummary: "summaries",
  branchSummary: "summaries",
};

export function sourceOf({ source, role = "" }: ReportItem): Source {
  switch (source.kind) {
    case "system":
      return "system";
    case "tool-schema":
      return "tools";
    case "summary":
      return "summaries";
    case "entry":
      return BY_ROLE[role] ?? "notes";
    default:
      return "notes";
  }
}

/** Estimated tokens by source. */
export type Estimates = Record<Source, number>;

export const noTokens = (): Estimates => ({
  ...{ system: 0, tools: 0, summaries: 0, messages: 0, replies: 0, toolOutput: 0, notes: 0 },
  program: 0,
});

/** Tokens of the prompt as the provider counted it, or null. */
export function countedTokens({ usage }: Pick<ModelCallReport, "usage">): number | null {
  const counted = usage === null ? 0 : promptTokensOf(usage);
  return counted > 0 ? counted : null;
}

/**
 * Shared out, so that the total is what the provider counted, where it did. Where a program made
 * the request, `isListed` false, what the list does not account for is the program's own.
 */
export function planSources(
  estimates: Estimates,
  counted: number | null,
  { isListed = true }: { isListed?: boolean } = {},
): SourceTokens {
  const parts = SOURCES.map((source) => ({ source, tokens: estimates[source] }));
  const estimate = parts.reduce((sum, { tokens }) => sum + tokens, 0);
  const total = estimate === 0 && isListed ? 0 : (counted ?? estimate);
  const program = isListed ? 0 : Math.max(0, total - estimate);
  const shares = shareOut(total - program, estimate)(parts);
  const tokens = Object.fromEntries(shares.map((part) => [part.source, part.tokens]));
  return { ...(tokens as Estimates), program, total };
}
