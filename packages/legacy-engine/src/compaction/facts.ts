// What code knows about the messages that a compaction replaces.
import { estimateText } from "@clew/plugin-sdk/tokens";
import {
  type FileOperations,
  fileOperations,
  splitRecord,
  textOf,
} from "@clew/plugin-sdk/transcript";
import { identifiersToKeep } from "./audit.ts";
import type { CompactionLimits } from "./limits.ts";
import type { CompactionOptions } from "./options.ts";
import type { SummaryPlan } from "./plan.ts";
import { headAndTail, recentTurnsSection, SECTION_LIMITS, withoutRecentTurns } from "./sections.ts";

/** What the check of a summary goes by, and what a model is told and its text gets added. */
export interface Facts {
  /** Prose of the summary before; undefined: there is none. */
  previousSummary: string | undefined;
  /** Quoted after a model's prose; may be empty. */
  recentTurns: string;
  audit: { identifiers: readonly string[]; latestAsk: string | undefined };
}

/** Everything that a summary is written and judged by, besides the messages. */
export function collectFacts(plan: SummaryPlan, options: CompactionOptions): Facts {
  const { history, prefix, limits, summarisedTokens, previous } = plan;
  const messages = [...history, ...prefix];
  // A quarter of what is summarised, at four characters to a token.
  const quoteChars = Math.min(
    SECTION_LIMITS.recentTurns,
    Math.floor(limits.summaryChars / 2),
    summarisedTokens,
  );
  const latest = messages.findLast(({ role }) => role === "user");
  const prose = withoutRecentTurns(splitRecord(previous?.summary ?? "").summary);
  return {
    previousSummary: prose === "" ? undefined : prose,
    recentTurns: recentTurnsSection(messages, options.recentTurnsPreserve, quoteChars),
    audit: {
      identifiers: options.identifierPolicy === "strict" ? identifiersToKeep(messages) : [],
      latestAsk:
        latest === undefined
          ? undefined
          : headAndTail(textOf(latest).replace(/\s+/g, " ").trim(), SECTION_LIMITS.openRequest),
    },
  };
}

/** Files of the summarised messages and of all history before them. */
export function coveredFiles({
  files,
  previous,
}: Pick<SummaryPlan, "files" | "previous">): FileOperations {
  const { readFiles = [], modifiedFiles = [] } = filesIn(previous?.details);
  return fileOperations([], {
    readFiles: [...readFiles, ...files.readFiles],
    modifiedFiles: [...modifiedFiles, ...files.modifiedFiles],
  });
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
