// Puts what a search found into words, with the way to the next page.
import { headOf, tailOf } from "@clew/plugin-sdk/transcript";
import type { RankedResult } from "../search/ranked.ts";
import type { Hit, SearchResult } from "../search/search.ts";
import { labelOf } from "./label.ts";

const MOST_CHARS = 40_000;
/** Around a hit. */
const CONTEXT_CHARS = 160;

/** Newest first. */
export function describeNewest({ hits, read, of, stoppedAt }: SearchResult, limit: number): string {
  const lines = linesOf(hits);
  const shown = hits.slice(0, lines.length);
  const oldest = shown.at(-1)?.message.seq ?? stoppedAt;
  const isAll = stoppedAt === null && shown.length === hits.length;
  const searched = isAll
    ? `All ${of} messages were searched.`
    : shown.length === hits.length && hits.length < limit
      ? `Time was up after ${read} of ${of} messages; for older ones add olderThan: ${stoppedAt}.`
      : `There may be more; for older ones add olderThan: ${oldest}.`;
  return page(lines, `${counted(lines, "newest first")} ${searched}`);
}

/** Best first; `skip` were passed over. */
export function describeRanked(
  { hits, read, of, hasMore, isTimeUp }: RankedResult,
  skip: number,
): string {
  const lines = linesOf(hits);
  const isCut = lines.length < hits.length;
  const searched = isTimeUp
    ? `Time was up after ${read} of ${of} messages.`
    : `${of} messages were searched, the likeliest ${read} compared.`;
  const next = hasMore || isCut ? ` For more add skip: ${skip + lines.length}.` : "";
  return page(lines, `${counted(lines, "best first")} ${searched}${next}`);
}

const counted = ({ length }: readonly string[], order: string) =>
  length === 0 ? "Nothing found." : `${length} found, ${order}.`;

function page(lines: readonly string[], head: string): string {
  const how = lines.length === 0 ? [] : ['lcm_describe shows one whole: {"id": "#12"}.'];
  return [head, ...how, ...lines].join("\n\n");
}

/** As many as there is room for. */
function linesOf(hits: readonly Hit[]): string[] {
  const lines: string[] = [];
  let chars = 0;
  for (const hit of hits) {
    const line = `${labelOf(hit.message)}\n${excerpt(hit)}`;
    if (chars + line.length > MOST_CHARS) break;
    chars += line.length;
    lines.push(line);
  }
  return lines;
}

/** The place in its surroundings, on one line. */
function excerpt({ text, match: { start, end } }: Hit): string {
  const from = Math.max(0, start - CONTEXT_CHARS);
  const found = text.slice(start, Math.min(end, start + CONTEXT_CHARS));
  const piece = `${tailOf(text.slice(from, start), CONTEXT_CHARS)}${found}${headOf(text.slice(start + found.length), CONTEXT_CHARS)}`;
  const place = from === 0 ? "" : `at character ${start} of ${text.length}: …`;
  return `${place}${piece.replace(/\s+/g, " ").trim()}`;
}
