// What code knows about the messages that a compaction replaces.
import { estimateText } from "@clew/plugin-sdk/tokens";
import { type FileOperations, fileOperations, textOf } from "@clew/plugin-sdk/transcript";
import { identifiersToKeep } from "./audit.ts";
import type { CompactionLimits } from "./limits.ts";
import type { CompactionOptions } from "./options.ts";
import type { SummaryPlan } from "./plan.ts";
import {
  fileSection,
  headAndTail,
  recentTurnsSection,
  SECTION_LIMITS,
  type SummaryParts,
  toolFailuresSection,
  withoutAddedSections,
} from "./sections.ts";

/** What code knows of the summarised messages. */
export interface Facts {
  previousSummary: string | undefined;
  parts: Omit<SummaryParts, "body" | "prefix">;
  audit: { identifiers: readonly string[]; latestAsk: string | undefined };
  files: FileOperations;
}

/** Everything a summary says that needs no model. */
export function collectFacts(plan: SummaryPlan, options: CompactionOptions): Facts {
  const { history, prefix, limits, summarisedTokens, openRequest, openRequestCut, previous } = plan;
  const messages = [...history, ...prefix];
  const files = coveredFiles(plan);
  // A quarter of what is summarised, at four characters to a token.
  const quoteChars = Math.min(
    SECTION_LIMITS.recentTurns,
    Math.floor(limits.summaryChars / 2),
    summarisedTokens,
  );
  const latest = messages.findLast(({ role }) => role === "user");
  return {
    previousSummary: previous === undefined ? undefined : withoutAddedSections(previous.summary),
    parts: {
      openRequest:
        openRequestCut && openRequest !== undefined
          ? pinnedText(textOf(openRequest.message), limits)
          : undefined,
      recentTurns: recentTurnsSection(messages, options.recentTurnsPreserve, quoteChars),
      failures: toolFailuresSection(messages),
      files: fileSection(files),
    },
    audit: {
      identifiers: options.identifierPolicy === "strict" ? identifiersToKeep(messages) : [],
      latestAsk:
        latest === undefined
          ? undefined
          : headAndTail(textOf(latest).replace(/\s+/g, " ").trim(), SECTION_LIMITS.openRequest),
    },
    files,
  };
}

/** Files of the summarised messages and of all history before them. */
export function coveredFiles({
  history,
  prefix,
  previous,
}: Pick<SummaryPlan, "history" | "prefix" | "previous">): FileOperations {
  return fileOperations([...history, ...prefix], filesIn(previous?.details));
}

function filesIn(details: unknown): Partial<FileOperations> {
  if (typeof details !== "object" || details === null) return {};
  const { readFiles, modifiedFiles } = details as Record<string, unknown>;
  const paths = (value: unknown) =>
    Array.isArray(value) ? value.filter((path): path is string => typeof path === "string") : [];
  return { readFiles: paths(readFiles), modifiedFiles: paths(modifiedFiles) };
}

/**
 * The open request byte for byte; one that would take more than half of what may be
 * kept is shown by its ends.
 */
export function pinnedText(text: string, limits: CompactionLimits): string {
  return estimateText(text).high <= limits.tailTokens / 2
    ? text
    : headAndTail(text, SECTION_LIMITS.openRequest);
}
