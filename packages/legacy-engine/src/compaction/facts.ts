// What code knows about the messages that a compaction replaces.
import type { Steps } from "@clew/plugin-sdk/host";
import { estimateText } from "@clew/plugin-sdk/tokens";
import {
  type FileOperations,
  fileOperations,
  headOf,
  type OpenRequest,
  splitRecord,
  tailOf,
  textOf,
} from "@clew/plugin-sdk/transcript";
import { identifierSteps } from "./audit.ts";
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

/** Everything that a summary is written and judged by, besides the messages; in steps. */
export function* factSteps(plan: SummaryPlan, options: CompactionOptions): Steps<Facts> {
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
  yield;
  const identifiers = options.identifierPolicy === "strict" ? yield* identifierSteps(messages) : [];
  yield;
  return {
    previousSummary: prose === "" ? undefined : prose,
    recentTurns: recentTurnsSection(messages, options.recentTurnsPreserve, quoteChars),
    audit: {
      identifiers,
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
 * The open request byte for byte. Of one that would take more than half of what may be kept, as
 * much of its ends as that half holds, and the id at which the whole can be read.
 */
export function pinnedText(
  { entryId, message }: OpenRequest,
  { tailTokens }: Pick<CompactionLimits, "tailTokens">,
): string {
  const text = textOf(message);
  const most = tailTokens / 2;
  const ends = (chars: number) => {
    const shown = Math.max(SECTION_LIMITS.openRequest, Math.floor(chars));
    const half = Math.floor(shown / 2);
    const head = headOf(text, half);
    const tail = tailOf(text, half);
    const out = text.length - head.length - tail.length;
    return `${head}\n[… ${out} characters of this request are left out here; @${entryId} is the whole …]\n${tail}`;
  };
  const { high } = estimateText(text);
  if (high <= most || text.length <= SECTION_LIMITS.openRequest) return text;
  // Ends may be denser than the rest.
  for (let chars = (text.length * most) / high; ; chars *= TIGHTER) {
    const shown = ends(chars);
    if (chars <= SECTION_LIMITS.openRequest || estimateText(shown).high <= most) return shown;
  }
}

const TIGHTER = 0.9;
