// What code knows about the messages that a compaction replaces.
import type { Steps } from "@clew/plugin-sdk/host";
import { estimateText } from "@clew/plugin-sdk/tokens";
import {
  type FileOperations,
  fileOperations,
  headOf,
  type OpenRequest,
  requestTextOf,
  splitRecord,
  tailOf,
  textOf,
} from "@clew/plugin-sdk/transcript";
import { identifierSteps } from "./audit.ts";
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
  const { history, prefix, limits, summarisedTokens } = plan;
  const messages = [...history, ...prefix];
  // A quarter of what is summarised, at four characters to a token.
  const quoteChars = Math.min(
    SECTION_LIMITS.recentTurns,
    Math.floor(limits.summaryChars / 2),
    summarisedTokens,
  );
  const latest = messages.findLast(({ role }) => role === "user");
  const prose = previousProse(
    plan,
    messages.length === 0 ? limits.summaryChars : requestChars(plan),
  );
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

/** Beside it a request for a summary holds messages. */
const SHARE_OF_REQUEST = 0.5;
/** Of dense text. */
const LEAST_CHARS_PER_TOKEN = 3;

const requestChars = ({ limits }: SummaryPlan) =>
  Math.floor(SHARE_OF_REQUEST * limits.promptBudget) * LEAST_CHARS_PER_TOKEN;

/** The prose of the summary before; of what is longer than `chars`, its ends, and where it is. */
export function previousProse({ previous }: Pick<SummaryPlan, "previous">, chars: number): string {
  if (previous === undefined) return "";
  const prose = withoutRecentTurns(splitRecord(previous.summary).summary);
  return prose.length <= chars
    ? prose
    : endsOf(prose, chars, { what: "the summary before", id: previous.id });
}

/** Why a record holds less than the one before it; undefined where it does not. */
export function whyShortened(
  { previous }: Pick<SummaryPlan, "previous">,
  record: string,
): string | undefined {
  return previous !== undefined && record.includes(whereTheWholeIs(previous.id))
    ? `the summary before it is too long for this window: its ends are kept, and entry ${previous.id} is the whole`
    : undefined;
}

const whereTheWholeIs = (id: string) => `@${id} is the whole`;

function endsOf(text: string, chars: number, { what, id }: { what: string; id: string }): string {
  const half = Math.floor(chars / 2);
  const head = headOf(text, half);
  const tail = tailOf(text, half);
  const out = text.length - head.length - tail.length;
  return `${head}\n[… ${out} characters of ${what} are left out here; ${whereTheWholeIs(id)} …]\n${tail}`;
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
 * The open request byte for byte. Of one that would take more than `most` tokens, as much of its
 * ends as they hold, and the id at which the whole can be read.
 */
export function pinnedText({ entryId, message }: OpenRequest, most: number): string {
  const text = requestTextOf(message);
  const ends = (chars: number) =>
    endsOf(text, Math.max(SECTION_LIMITS.openRequest, Math.floor(chars)), {
      what: "this request",
      id: entryId,
    });
  const { estimate, high } = estimateText(text);
  if (estimate <= most || text.length <= SECTION_LIMITS.openRequest) return text;
  // Ends may be denser than the rest.
  for (let chars = (text.length * most) / high; ; chars *= TIGHTER) {
    const shown = ends(chars);
    if (chars <= SECTION_LIMITS.openRequest || estimateText(shown).high <= most) return shown;
  }
}

const TIGHTER = 0.9;
