// The tool that finds messages by words or by a pattern.
import type { PluginToolResult, SessionRef } from "@clew/plugin-sdk/core";
import { headOf, tailOf } from "@clew/plugin-sdk/transcript";
import { PatternError } from "../search/pattern/parse.ts";
import { type Hit, type SearchResult, search } from "../search/search.ts";
import type { Store } from "../store/store.ts";
import { labelOf } from "./label.ts";
import { type Asked, scopeOf } from "./reach.ts";
import { textResult } from "./result.ts";

/** The arguments of `lcm_grep`. */
export interface GrepArguments extends Asked {
  readonly pattern: string;
  readonly mode?: "regex" | "full_text" | undefined;
  /** ISO 8601. */
  readonly since?: string | undefined;
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
  /** Number of a message: only older ones. */
  readonly olderThan?: number | undefined;
}

export const GREP_PARAMETERS = {
  type: "object",
  additionalProperties: false,
  required: ["pattern"],
  properties: {
    pattern: { type: "string", minLength: 1, description: "Words, or a regular expression." },
    mode: {
      type: "string",
      enum: ["regex", "full_text"],
      description: "full_text (default): messages that hold every word, whatever its ending.",
    },
    conversationId: { type: "integer", description: "Only this conversation." },
    allConversations: { type: "boolean", description: "Other sessions too." },
    since: { type: "string", description: "ISO 8601: said at or after." },
    before: { type: "string", description: "ISO 8601: said before." },
    olderThan: { type: "integer", description: "Next page: the number that the last page names." },
    limit: { type: "integer", minimum: 1, maximum: 200, description: "Default 20." },
  },
} as const;

const DEFAULT_LIMIT = 20;
const BOUND_MS = 5_000;
const MOST_CHARS = 40_000;
/** Around a hit. */
const CONTEXT_CHARS = 160;

export async function grep(
  store: Store,
  session: SessionRef,
  asked: GrepArguments,
  signal?: AbortSignal | undefined,
): Promise<PluginToolResult> {
  const { pattern, mode = "full_text", limit = DEFAULT_LIMIT, olderThan } = asked;
  const [since, before] = [timeOf(asked.since, -Infinity), timeOf(asked.before, Infinity)];
  if (Number.isNaN(since) || Number.isNaN(before))
    return textResult("since and before are dates, such as 2026-01-31 or 2026-01-31T10:00:00Z.");
  const isTimed = since !== -Infinity || before !== Infinity;
  try {
    const result = await search(store, {
      mode: mode === "regex" ? "pattern" : "words",
      query: pattern,
      scope: scopeOf(store, session, asked),
      accepts: ({ message: { timestamp } }) =>
        !isTimed || (typeof timestamp === "number" && timestamp >= since && timestamp < before),
      before: olderThan,
      limit,
      boundMs: BOUND_MS,
      signal,
    });
    return textResult(describeResult(result, limit));
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    return textResult(
      `This pattern cannot be searched for: ${error.message}. mode "full_text" takes plain words.`,
    );
  }
}

function describeResult({ hits, read, of, stoppedAt }: SearchResult, limit: number): string {
  const lines: string[] = [];
  let chars = 0;
  for (const hit of hits) {
    const line = `${labelOf(hit.message)}\n${excerpt(hit)}`;
    if (chars + line.length > MOST_CHARS) break;
    chars += line.length;
    lines.push(line);
  }
  const shown = hits.slice(0, lines.length);
  const oldest = shown.at(-1)?.message.seq ?? stoppedAt;
  const isAll = stoppedAt === null && shown.length === hits.length;
  const searched = isAll
    ? `All ${of} messages were searched.`
    : shown.length === hits.length && hits.length < limit
      ? `Time was up after ${read} of ${of} messages; for older ones add olderThan: ${stoppedAt}.`
      : `There may be more; for older ones add olderThan: ${oldest}.`;
  const found = `${shown.length === 0 ? "Nothing" : shown.length} found${shown.length === 0 ? "" : ", newest first"}. ${searched}`;
  const how = shown.length === 0 ? [] : ['lcm_describe shows one whole: {"id": "#12"}.'];
  return [found, ...how, ...lines].join("\n\n");
}

/** The place in its surroundings, on one line. */
function excerpt({ text, match: { start, end } }: Hit): string {
  const from = Math.max(0, start - CONTEXT_CHARS);
  const found = text.slice(start, Math.min(end, start + CONTEXT_CHARS));
  const piece = `${tailOf(text.slice(from, start), CONTEXT_CHARS)}${found}${headOf(text.slice(start + found.length), CONTEXT_CHARS)}`;
  const place = from === 0 ? "" : `at character ${start} of ${text.length}: …`;
  return `${place}${piece.replace(/\s+/g, " ").trim()}`;
}

const timeOf = (text: string | undefined, absent: number) =>
  text === undefined ? absent : Date.parse(text);
