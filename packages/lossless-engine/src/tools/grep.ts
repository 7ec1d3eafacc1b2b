// The tool that finds messages by words or by a pattern.
import { isRecall, isSummary, makesCall } from "../messages/quoting.ts";
import { patiently } from "../patiently.ts";
import { looksLikePattern } from "../search/looks-like-pattern.ts";
import { matcherOf } from "../search/pattern/matcher.ts";
import { PatternError, parsePattern, unsearchable } from "../search/pattern/parse.ts";
import { type RankedResult, searchRanked } from "../search/ranked.ts";
import { type SearchResult, search } from "../search/search.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { openRequest, type Scope } from "../store/recall.ts";
import type { StoredMessage } from "../store/rows.ts";
import { backlogOf } from "../store/search-index.ts";
import type { Store } from "../store/store.ts";
import { absentIn } from "../store/tombstones.ts";
import { queryWords } from "../store/word-text.ts";
import { MOST_QUERY_CHARS } from "./arguments.ts";
import { describeNewest, describeRanked } from "./found.ts";
import { grepSummaries } from "./grep-summaries.ts";
import type { Asked } from "./may-read.ts";
import { searchedFiles } from "./searched-files.ts";

/** The arguments of `lcm_grep`. */
export interface GrepArguments extends Asked {
  readonly pattern: string;
  readonly mode?: "regex" | "full_text" | undefined;
  readonly scope?: "messages" | "files" | "both" | "summaries" | undefined;
  /** Only messages that hold one of these files, by their ids or paths. */
  readonly fileIds?: readonly string[] | undefined;
  readonly sort?: "recency" | "relevance" | "hybrid" | undefined;
  /** ISO 8601. */
  readonly since?: string | undefined;
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
  /** Number of a message: only older ones. */
  readonly olderThan?: number | undefined;
  /** Of the best: how many to pass over. */
  readonly skip?: number | undefined;
}

export const GREP_PARAMETERS = {
  type: "object",
  additionalProperties: false,
  required: ["pattern"],
  properties: {
    pattern: {
      type: "string",
      minLength: 1,
      maxLength: MOST_QUERY_CHARS,
      description: "Words, or a regular expression.",
    },
    mode: {
      type: "string",
      enum: ["regex", "full_text"],
      description:
        'full_text: messages that hold every word, whatever its ending; what stands in "quotes" as it is, from word to word. Default: regex where the pattern looks like one.',
    },
    sort: {
      type: "string",
      enum: ["recency", "relevance", "hybrid"],
      description:
        "recency (default). relevance: messages that hold most of the words first, rare words first. hybrid: the same, newer ones before older.",
    },
    scope: {
      type: "string",
      enum: ["messages", "files", "both", "summaries"],
      description:
        "files: only what calls read or wrote of files, and other long texts. summaries: stretches of the past, by what was asked and which files were at hand.",
    },
    fileIds: {
      type: "array",
      items: { type: "string" },
      description: 'Only in these files, by id ("file_…") or path.',
    },
    conversationId: { type: "integer", description: "Only this conversation." },
    allConversations: { type: "boolean", description: "Other sessions too." },
    since: { type: "string", description: "ISO 8601: said at or after." },
    before: { type: "string", description: "ISO 8601: said before." },
    olderThan: { type: "integer", description: "Next page: the number that the last page names." },
    skip: { type: "integer", minimum: 0, description: "Next page when sorted by relevance." },
    limit: {
      type: "integer",
      minimum: 1,
      maximum: 200,
      description: "Default 20, by relevance 4.",
    },
  },
} as const;

const DEFAULT_LIMIT = 20;
/** Of the best, a few tell what there is to know. */
const DEFAULT_BEST = 4;
const SEARCH_MS = 5_000;

/** What a search keeps to. */
export interface GrepContext {
  /** Of the call that searches. */
  readonly callId: string;
  readonly session: OwnedSession;
  readonly scope: Scope;
  /** Where relative paths of files begin. Absent: not known. */
  readonly workspace?: string | undefined;
  /** How long it may take, ms. Absent: 5,000. */
  readonly searchMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export async function grep(
  store: Store,
  asked: GrepArguments,
  { callId, session, scope, workspace, searchMs = SEARCH_MS, signal }: GrepContext,
): Promise<string> {
  const { pattern, sort = "recency" } = asked;
  const mode = modeOf(asked);
  // Signs alone are found or not, as they are.
  const isRanked =
    mode === "full_text" && sort !== "recency" && queryWords(pattern).indexed.length > 0;
  const { limit = isRanked ? DEFAULT_BEST : DEFAULT_LIMIT } = asked;
  if (!isRanked && (asked.skip ?? 0) > 0)
    return "skip goes with sort relevance or hybrid; newest first, olderThan names where the next page begins.";
  const [since, before] = [timeOf(asked.since, -Infinity), timeOf(asked.before, Infinity)];
  if (Number.isNaN(since) || Number.isNaN(before))
    return "since and before are dates, such as 2026-01-31 or 2026-01-31T10:00:00Z.";
  if (asked.scope === "summaries")
    return grepSummaries(store, { ...asked, mode, since, before, limit }, { scope, signal });
  const files = await searchedFiles(store, asked, { scope, workspace, signal });
  if (files.kind === "unknown") return files.why;
  const { isIn: isWanted } = files;
  // What is asked is no answer, and neither is the message that asks.
  const asking = await patiently(() => openRequest(store, session), signal);
  const isCalling = ({ seq, message }: StoredMessage) =>
    seq > (asking ?? Infinity) && makesCall(message, callId);
  const isTimed = since !== -Infinity || before !== Infinity;
  const accepts = (message: StoredMessage) => {
    const { timestamp } = message.message;
    return (
      message.seq < (asked.olderThan ?? Infinity) &&
      !isRecall(message.message) &&
      !isCalling(message) &&
      isWanted(message) &&
      (!isTimed || (typeof timestamp === "number" && timestamp >= since && timestamp < before))
    );
  };
  const absent = await patiently(() => store.read((sql) => absentIn(sql, scope)), signal);
  const gone = describeAbsent(absent);
  const request = { query: pattern, scope, accepts, limit, boundMs: searchMs, signal };
  try {
    if (isRanked) {
      const { skip = 0 } = asked;
      const prefersNew = sort === "hybrid";
      const found = await searchRanked(store, {
        ...{ ...request, skip, prefersNew, before: asked.olderThan },
        accepts: (message) => message.seq !== asking && accepts(message),
      });
      // What was asked for by number is shown; otherwise what is worth it.
      const shown = asked.limit === undefined ? worthShowing(found) : found;
      return await withBacklog(store, shown, (of) => `${describeRanked(of, skip)}${gone}`);
    }
    const found = await search(store, {
      ...request,
      mode: mode === "regex" ? "pattern" : "words",
      before: asked.olderThan,
      isAside: isSummary,
    });
    const describe = (of: SearchResult) =>
      `${describeNewest(of)}${hintOf(asked, mode, found)}${gone}`;
    return await withBacklog(store, found, describe);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return `${unsearchable(error)}. mode "full_text" takes plain words.`;
  }
}

/** Of them nothing is found, whatever they said. */
const describeAbsent = (count: number): string =>
  count === 0
    ? ""
    : `\n\nOf the messages ${count === 1 ? "1 is" : `${count} are`} not kept any more, and no search finds what ${count === 1 ? "it" : "they"} said.`;

/** What holds far less than the best one is shown on the next page. */
const WORTH = 0.2;

function worthShowing({ hits, ...found }: RankedResult): RankedResult {
  const worth = hits.filter(({ score }) => score >= WORTH * hits[0]!.score);
  return { ...found, hits: worth, hasMore: found.hasMore || worth.length < hits.length };
}

/** Says what the index lacks while the database cannot be written. */
async function withBacklog<Found extends { of: number }>(
  store: Store,
  found: Found,
  describe: (found: Found) => string,
): Promise<string> {
  const missing = await patiently(() => backlogOf(store));
  if (missing === 0) return describe(found);
  return `${describe({ ...found, of: Math.max(0, found.of - missing) })}\n\nNot searched: the newest ${missing}, which the index lacks because the database cannot be written now. Search again later.`;
}

/** As asked; otherwise as it looks, where it can be searched for as that. */
function modeOf({ pattern, mode, sort }: GrepArguments): "regex" | "full_text" {
  if (mode !== undefined || (sort !== undefined && sort !== "recency")) return mode ?? "full_text";
  if (!looksLikePattern(pattern)) return "full_text";
  try {
    matcherOf(parsePattern(pattern));
    return "regex";
  } catch (error) {
    if (error instanceof PatternError) return "full_text";
    throw error;
  }
}

/** What else there is to try, when nothing was found. */
function hintOf(
  { pattern, mode: asked }: GrepArguments,
  mode: "regex" | "full_text",
  { hits }: SearchResult,
): string {
  if (hits.length > 0) return "";
  if (mode === "regex")
    return asked === undefined
      ? ' It was taken for a regular expression; mode "full_text" takes it for words.'
      : "";
  if (looksLikePattern(pattern))
    return ' It was taken for plain words; mode "regex" takes it for a regular expression.';
  const { words } = queryWords(pattern);
  if (words.length === 0) return "";
  return words.length > 1
    ? ' A message has to hold every word; sort "relevance" finds those that hold most of them.'
    : ' Words are found whole; mode "regex" finds a part of one, too.';
}

const timeOf = (text: string | undefined, absent: number) =>
  text === undefined ? absent : Date.parse(text);
