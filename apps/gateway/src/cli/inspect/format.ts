// Lays out what the inspector knows for people at a terminal.

import { describeCounts } from "../../inspect/describe-counts.ts";
import { sentTokens } from "../../inspect/sent-tokens.ts";
import type {
  CallDiff,
  CallPage,
  CallRow,
  CallView,
  EntryMark,
  EntryTrace,
  FoundText,
  SentItem,
} from "../../inspect/shapes.ts";
import { SOURCES } from "../../inspect/sources.ts";
import { formatTable } from "../../terminal/table.ts";
import { counted, number } from "../../text/number.ts";
import { visible } from "../../text/visible.ts";

const BAR_CELLS = 10;
const PREVIEW_CHARS = 60;

/** A row per call. */
export function formatCalls({ calls, unreadableTurns }: CallPage): string {
  const hasCost = calls.some(({ cost }) => cost !== null);
  const rows = calls.map((row) => [
    row.id,
    ...(row.lost === null
      ? [
          number(row.tokens.total),
          fillOf(row),
          number(row.fates.shown),
          number(row.fates.summary),
          number(row.fates.cleared + row.fates.leftOut),
        ]
      : ["–", "", "–", "–", "–"]),
    cacheOf(row),
    ...(hasCost ? [row.cost === null ? "–" : row.cost.total.toFixed(4)] : []),
    [
      ...(row.lost === null ? [] : ["what was sent cannot be told"]),
      ...troubles(row),
      ...row.happened,
    ].join("; "),
  ]);
  const headings = [
    ...["call", "sent", "of budget", "shown", "in summaries", "not shown", "cache"],
    ...(hasCost ? ["cost"] : []),
    "what happened before",
  ];
  return [
    formatTable(headings, rows),
    "",
    sumUp(calls, unreadableTurns),
    ...damage(calls, unreadableTurns),
  ].join("\n");
}

/** What is not among the calls, and of which nothing is known. */
function damage(calls: readonly CallRow[], turns: readonly number[]): string[] {
  const lost = calls.filter((row) => row.lost !== null).length;
  if (turns.length === 0 && lost === 0) return [];
  const which = turns.slice(0, 10).join(", ") + (turns.length > 10 ? ", …" : "");
  const gone =
    turns.length === 0
      ? ""
      : `The ${turns.length === 1 ? "report of turn" : "reports of turns"} ${which} cannot be read, so the calls of ${turns.length === 1 ? "that turn are" : "those turns are"} not listed. `;
  const blind = lost === 0 ? "" : `Of ${counted(lost, "call")} it cannot be told what was sent.`;
  return [`${gone}${blind}`.trim()];
}

function sumUp(calls: readonly CallRow[], unreadable: readonly number[]): string {
  const turns = new Set(calls.map(({ turn }) => turn)).size;
  const sent = calls.reduce((sum, row) => sum + sentTokens(row), 0);
  const failed = calls.filter(({ error }) => error !== null).length;
  const isKnown = unreadable.length === 0 && calls.every(({ lost }) => lost === null);
  const isWhole = isKnown && calls.every(({ fates }) => fates.shown === fates.all);
  const without =
    failed === 0
      ? ""
      : ` (${counted(failed, "call")} without an answer ${failed === 1 ? "is" : "are"} not in it)`;
  return `${counted(calls.length, "call")} in ${counted(turns, "turn")}, ${number(sent)} tokens sent${without}. ${isWhole ? "Every entry was shown in every call." : '"--call" with a number of the first column tells of each entry that was not shown.'}`;
}

const troubles = ({ marks }: CallRow): string[] =>
  marks.filter((mark) => mark !== "compaction" && mark !== "prune");

function fillOf({ tokens, promptBudget }: CallRow): string {
  if (promptBudget === null || promptBudget === 0) return "";
  const filled = Math.round((BAR_CELLS * tokens.total) / promptBudget);
  return "▓".repeat(Math.min(BAR_CELLS, filled)).padEnd(BAR_CELLS, "░");
}

function cacheOf({ cache, tokens }: CallRow): string {
  if (cache?.read == null || tokens.total === 0) return "–";
  return `${Math.round((100 * cache.read) / tokens.total)} %`;
}

/** One call: why, by source, item by item, summaries. */
export function formatCall({ row, why, items, summaries, rebuilt }: CallView): string {
  const sources = SOURCES.map((source) => [source, number(row.tokens[source])]);
  return [
    `Call ${row.id}, ${row.startedAt.slice(0, 19).replace("T", " ")}, ${row.model}, engine ${row.engine}`,
    ...why,
    ...row.happened.map((what) => `Before it: ${what}.`),
    rebuilt.isSame ? "The request can be made again to the byte (--request)." : rebuilt.why!,
    "",
    formatTable(["source", "tokens"], [...sources, ["total", number(row.tokens.total)]]),
    "",
    formatTable(["item", "is", "entry", "tokens", "cached", "begins"], items.map(itemCells)),
    ...summaries.flatMap(({ summaryId, by, tokens, covers }) => [
      "",
      `Summary ${summaryId} by ${by}, ${number(tokens)} tokens, ${covers === null ? "whose engine does not say what it covers" : `covers ${counted(covers.entries, "entry", "entries")}, ${covers.from} to ${covers.to}`}.`,
    ]),
    "",
    `Of ${describeCounts(row.fates)}`,
  ].join("\n");
}

function itemCells(item: SentItem): string[] {
  const { index, part, role, source, number: entry, tokens, isFromCache, marks, preview } = item;
  const isText = part === "messages";
  return [
    `${part} ${index}`,
    isText ? (item.summaryId === null ? (role ?? source.kind) : "summary") : source.name,
    entry === null ? "" : String(entry),
    number(tokens),
    isFromCache === null ? "" : isFromCache ? "yes" : "no",
    [...marks.map(markOf), oneLine(preview)].join(" "),
  ];
}

const markOf = (mark: EntryMark): string =>
  mark.kind === "shortened"
    ? `[${number(mark.from)} → ${number(mark.to)} tokens by ${mark.rule}]`
    : `[changed by ${mark.rule}]`;

const oneLine = (text: string): string => {
  const line = visible(text.replace(/\s+/g, " ").trim());
  return line.length <= PREVIEW_CHARS ? line : `${line.slice(0, PREVIEW_CHARS - 1)}…`;
};

/** What a call has that another had not, and the other way round. */
export function formatDiff({ from, to, prefix, added, removed, changed }: CallDiff): string {
  const line = (sign: string, item: SentItem, why = "") => [
    sign,
    ...itemCells(item).filter((cell) => cell !== ""),
    why === "" ? "" : `(${why})`,
  ];
  const lines = [
    ...removed.map(({ item, why }) => line("−", item, why)),
    ...changed.map(({ before, after, why }) =>
      line("~", after, `${number(before.tokens)} → ${number(after.tokens)} tokens; ${why}`),
    ),
    ...added.map((item) => line("+", item)),
  ];
  return [
    `From call ${from.id} (${number(from.tokens.total)} tokens) to call ${to.id} (${number(to.tokens.total)}).`,
    `Both begin with the same ${counted(prefix.items, "item")}, ${number(prefix.tokens)} tokens, ${Math.round(100 * prefix.share)} % of the first.`,
    ...to.happened.map((what) => `Before the second: ${what}.`),
    ...lines.map((cells) => cells.filter((cell) => cell !== "").join("  ")),
    ...(lines.length === 0 ? ["Nothing is different."] : []),
  ].join("\n");
}

export function formatTrace({ entry, ranges }: EntryTrace): string {
  return [
    `Entry ${entry.number} (${entry.entryId}), ${entry.role}, ${number(entry.tokens)} tokens: ${oneLine(entry.preview)}`,
    ...ranges.map(({ from, to, calls, why }) => `${rangeOf({ from, to, calls })}: ${why}`),
    ...(ranges.length === 0 ? ["No model was called since it was stored."] : []),
  ].join("\n");
}

const rangeOf = ({ from, to, calls }: FoundText["shownIn"][number]): string =>
  calls === 1 ? `call ${from}` : `calls ${from} to ${to} (${number(calls)})`;

export function formatFound(found: FoundText): string {
  const { text, entries, shownIn, lost, summaries, calls } = found;
  const saying = summaries.filter(({ says }) => says);
  return [
    `"${visible(text)}" is said in ${counted(entries.length, "entry", "entries")}${entries.length === 0 ? "." : `: ${entries.map((entry) => entry.number).join(", ")}.`}`,
    shownIn.length === 0
      ? `No call of ${number(calls)} showed it.`
      : `The model could read it in ${shownIn.map(rangeOf).join(", ")}.`,
    ...lost.map((gap) => `Gone in ${rangeOf({ ...gap, from: gap.id })}: ${gap.why}.`),
    ...saying.map(({ summaryId }) => `Summary ${summaryId} says it.`),
    ...(summaries.length === 0
      ? []
      : [
          `${number(summaries.length - saying.length)} of ${counted(summaries.length, "summary", "summaries")} in these calls ${summaries.length - saying.length === 1 ? "does" : "do"} not say it.`,
        ]),
  ].join("\n");
}

/** Each stretch of calls in which it was gone, and where it can be read now. */
export function formatBisect({ text, lost, shownIn }: FoundText): string {
  const said = `"${visible(text)}"`;
  const last = shownIn.at(-1)!;
  const isBack = shownIn.length > lost.length;
  return [
    ...lost.map(
      (gap, at) =>
        `${said} was last shown in call ${shownIn[at]!.to} and is gone in ${rangeOf({ ...gap, from: gap.id })}: ${gap.why}.`,
    ),
    ...(isBack
      ? [
          `${said} ${lost.length === 0 ? "can still be read" : "can be read again"}: in ${rangeOf(last)}, the newest one included.`,
        ]
      : []),
  ].join("\n");
}
