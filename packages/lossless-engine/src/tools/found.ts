// Puts what a search found into words, with the way to the next page.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { escapeTags, headOf, otherSessionOf, speakerOf, tailOf } from "@clew/plugin-sdk/transcript";
import { isSummary } from "../messages/quoting.ts";
import type { RankedResult } from "../search/ranked.ts";
import type { Hit, SearchResult } from "../search/search.ts";
import { timeOf } from "../store/rows.ts";
import { labelOf } from "./label.ts";
import { onOneLine } from "./quoted.ts";

const MOST_CHARS = 40_000;
/** Around a hit. */
const CONTEXT_CHARS = 160;
/** Of the passages of the best hits, in order; of those behind them the last. */
const CHARS: readonly number[] = [300, 240, 170];
/** Of a best hit that is shown whole. */
const WHOLE_CHARS = 700;
/** Of a passage, before the place. */
const LEAD_CHARS = 80;

/** Newest first; what only sums up what is stored stands behind it. */
export function describeNewest(found: SearchResult): string {
  const { hits, read, of, stoppedAt, isTimeUp, tooSlowFor, damaged } = found;
  const newest = linesOf(hits, (hit) => `${labelOf(hit.message)}\n> ${around(hit)}`);
  const shown = hits.slice(0, newest.length);
  const isQuoting = (at: number) => isSummary(shown[at]!.message.message);
  const lines = [
    ...newest.filter((_, at) => !isQuoting(at)),
    ...newest.filter((_, at) => isQuoting(at)),
  ];
  const oldest = shown.at(-1)?.message.seq ?? stoppedAt;
  const isAll = stoppedAt === null && shown.length === hits.length;
  const searched = isAll
    ? `All ${of} messages were searched${lines.length === 0 ? WHAT_IS_SEARCHED : ""}.`
    : shown.length === hits.length && isTimeUp
      ? `Time was up after ${read} of ${of} messages; for older ones add olderThan: ${stoppedAt}.`
      : `There may be more; for older ones add olderThan: ${oldest}.`;
  const slow =
    tooSlowFor === undefined
      ? ""
      : ` Message #${tooSlowFor} was not searched: this pattern takes too long there; ask for a simpler one.`;
  return page(lines, `${counted(lines, "newest first")} ${searched}${slow}${unreadable(damaged)}`);
}

const WHAT_IS_SEARCHED =
  ": what they say, call tools for and get back, but for earlier searches and what was thought beside them; lcm_describe with raw shows other fields";

/** A few numbers tell which. */
function unreadable(damaged: readonly number[]): string {
  if (damaged.length === 0) return "";
  const numbers = damaged.slice(0, MOST_NUMBERS).map((seq) => `#${seq}`);
  const more = damaged.length > MOST_NUMBERS ? ` and ${damaged.length - MOST_NUMBERS} more` : "";
  return ` Damaged in the database, not searched: ${numbers.join(", ")}${more}.`;
}

const MOST_NUMBERS = 10;

/** Best first; `skip` were passed over. */
export function describeRanked(
  { hits, read, of, before, passedOver, hasMore, isTimeUp }: RankedResult,
  skip: number,
): string {
  const lines = linesOf(hits, (hit, at) => {
    const isShort = at === 0 && hit.text.length <= WHOLE_CHARS;
    return quoted(hit, isShort ? WHOLE_CHARS : (CHARS[at] ?? CHARS.at(-1)!));
  });
  const isCut = lines.length < hits.length;
  const searched = isTimeUp
    ? `Time was up after ${read} of ${of} messages.`
    : `Of ${of} messages ${read} were compared.`;
  const next =
    hasMore || isCut
      ? ` For more add skip: ${skip + lines.length}, olderThan: ${before}.`
      : passedOver > 0
        ? ` ${passedOver} others hold some of the words and were not: sort "recency" finds all that hold every word.`
        : "";
  return page(lines, `${counted(lines, "best first")} ${searched}${next}`);
}

const counted = ({ length }: readonly string[], order: string) =>
  length === 0 ? "Nothing found." : `${length} found, ${order}.`;

function page(lines: readonly string[], head: string): string {
  const how = lines.length === 0 ? [] : ['lcm_describe shows one whole: {"id": "#12"}.'];
  return [head, ...how, ...lines].join("\n\n");
}

/** As many as there is room for. */
function linesOf<Found extends Hit>(
  hits: readonly Found[],
  describe: (hit: Found, at: number) => string,
): string[] {
  const lines: string[] = [];
  let chars = 0;
  for (const [at, hit] of hits.entries()) {
    const line = describe(hit, at);
    if (chars + line.length > MOST_CHARS) break;
    chars += line.length;
    lines.push(line);
  }
  return lines;
}

/** The place in its surroundings. */
function around({ text, match: { start, end } }: Hit): string {
  const to = Math.min(end, start + CONTEXT_CHARS) + CONTEXT_CHARS;
  return excerpt(text, { start, from: start - CONTEXT_CHARS, to });
}

/** The passage that holds most of the words, in a tag that nothing in it can close. */
function quoted({ message, text, match: { start } }: Hit, chars: number): string {
  const time = timeOf(message.message);
  const at = time === null ? "" : new Date(time).toISOString().slice(0, 16).replace("T", " ");
  const said = passageAround(text, start, chars);
  return `<record n="${message.seq}" from="${fromOf(message.message)}" at="${at}">\n${escapeTags(said.trim())}\n</record>`;
}

/** From the beginning of its line, where that is near; what stands before it fills the rest. */
function passageAround(text: string, start: number, chars: number): string {
  const inLine = Math.min(LEAD_CHARS, start - (text.lastIndexOf("\n", start - 1) + 1));
  const head = headOf(text.slice(start), chars - inLine);
  return `${tailOf(text.slice(0, start), chars - head.length)}${head}`;
}

/** In an attribute: without what could end it. */
function fromOf(message: AgentMessage): string {
  if (otherSessionOf(message) !== undefined)
    return speakerOf(message).replaceAll(/[^\p{L}\p{N} _.:-]/gu, "");
  return SPEAKERS[message.role] ?? (message.role === "toolResult" ? "result" : "host");
}

const SPEAKERS: Readonly<Record<string, string>> = {
  user: "person",
  assistant: "model",
  compactionSummary: "summary",
  branchSummary: "summary",
};

/** On one line; `start` is the place that is named. */
function excerpt(text: string, at: { start: number; from: number; to: number }): string {
  const from = Math.max(0, at.from);
  const before = tailOf(text.slice(from, at.start), at.start - from);
  const piece = `${before}${headOf(text.slice(at.start), at.to - at.start)}`;
  const place = from === 0 ? "" : `at character ${at.start} of ${text.length}: …`;
  return `${place}${onOneLine(piece.replace(/\s+/g, " ").trim())}`;
}
