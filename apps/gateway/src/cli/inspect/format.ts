// Lays out what the inspector knows for people at a terminal.

import { formatShare } from "../../conversation/format.ts";
import { addCosts } from "../../costs/cost.ts";
import { dollarsText, unendedText } from "../../costs/describe.ts";
import { untoldText } from "../../costs/describe-usage.ts";
import { costWithSides, ownDollars } from "../../inspect/cost-with-sides.ts";
import { describeCounts } from "../../inspect/describe-counts.ts";
import { describeMissing } from "../../inspect/describe-missing.ts";
import { planRanges } from "../../inspect/found-ranges.ts";
import { describeLetGo } from "../../inspect/let-go.ts";
import { MARK_WORDS } from "../../inspect/mark-words.ts";
import { describePeaks } from "../../inspect/peaks.ts";
import { describeRecount } from "../../inspect/recount.ts";
import { sentTokens } from "../../inspect/sent-tokens.ts";
import type { CallPage, CallRow } from "../../inspect/shapes/calls.ts";
import type { EntryMark, EntryTrace } from "../../inspect/shapes/entries.ts";
import type { FoundText } from "../../inspect/shapes/found-text.ts";
import type {
  CallDiff,
  CallView,
  Proof,
  SentItem,
  SummaryFacts,
} from "../../inspect/shapes/one-call.ts";
import { SOURCES } from "../../inspect/sources.ts";
import { formatTable } from "../../terminal/table.ts";
import { counted, number, signed } from "../../text/number.ts";
import { visible } from "../../text/visible.ts";

const BAR_CELLS = 10;
const PREVIEW_CHARS = 60;

/** A row per call, and what they come to. */
export function formatCalls(page: CallPage): string {
  const { calls, since, unreadableTurns, missingTurns, letGoTurns, peaks } = page;
  const untold = unreadableTurns.length + missingTurns.length + letGoTurns;
  return [
    ...(calls.length === 0 ? [] : [tableOf(page), ""]),
    sumUp(page, { isListed: untold === 0 }),
    ...letGo(letGoTurns, "their calls are neither listed nor in these sums"),
    ...(calls.length < 2 ? [] : describePeaks(peaks)),
    ...costOfAll(page),
    ...since.unanswered.map((why) => `After them a message had no reply: ${why}`),
    ...describeMissing(missingTurns).map((each) => `${each}.`),
    ...damage(calls, unreadableTurns),
  ].join("\n");
}

/** The calls of one turn. */
export function formatTurn(page: CallPage): string {
  const { calls } = page;
  const sent = calls.reduce((sum, row) => sum + sentTokens(row), 0);
  const costs = calls.flatMap(({ cost }) => cost ?? []);
  const price =
    costs.length < calls.length ? "" : `, ${costWithSides(addCosts(costs), dollarsText)}`;
  const [{ turn }] = calls as [CallRow];
  return [
    tableOf(page),
    "",
    `Turn ${turn}: ${counted(calls.length, "call")}, ${number(sent)} tokens sent${price}.`,
  ].join("\n");
}

function tableOf({ calls, peaks }: CallPage): string {
  const hasCost = calls.some(({ cost }) => cost !== null);
  const hasSides = calls.some(({ cost }) => (cost?.summariser ?? 0) > 0);
  const rows = calls.map((row) => [
    row.id,
    ...(row.lost === null
      ? [
          number(row.tokens.total),
          fillOf(row),
          number(row.fates.shown),
          number(row.fates.summary),
          number(row.fates.cleared + row.fates.leftOut + row.fates.unseen),
        ]
      : ["–", "", "–", "–", "–"]),
    cacheOf(row),
    ...(hasCost ? [row.cost === null ? "–" : ownDollars(row.cost).toFixed(4)] : []),
    ...(hasSides ? [row.cost?.summariser ? row.cost.summariser.toFixed(4) : ""] : []),
    [
      ...(row.lost === null ? [] : ["what was sent cannot be told"]),
      ...(row.id === peaks.dearest?.id ? ["dearest of all"] : []),
      ...(row.id === peaks.fullest?.id ? ["fullest of all"] : []),
      ...whatRuns(row),
      ...troubles(row),
      ...row.happened,
    ].join("; "),
  ]);
  const headings = [
    ...["call", "sent", "of budget", "shown", "in summaries", "not shown", "cache"],
    ...(hasCost ? ["cost"] : []),
    ...(hasSides ? ["side calls"] : []),
    "what happened before",
  ];
  return formatTable(headings, rows);
}

/** `what` that means here. */
function letGo(turns: number, what: string): string[] {
  const told = describeLetGo(turns);
  return told === null ? [] : [`${told[0]!.toUpperCase()}${told.slice(1)}: ${what}.`];
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

/** `isListed`: no call is missing. */
function sumUp({ calls, sums: { sent } }: CallPage, { isListed }: { isListed: boolean }): string {
  const turns = new Set(calls.map(({ turn }) => turn)).size;
  const failed = calls.filter(({ error }) => error !== null).length;
  const isKnown = isListed && calls.every(({ lost }) => lost === null);
  const isShown = isKnown && calls.every(({ fates }) => fates.shown === fates.all);
  const isWhole = isShown && calls.every(({ fates }) => fates.shortened === 0);
  const without =
    failed === 0
      ? ""
      : ` (${counted(failed, "call")} without an answer ${failed === 1 ? "is" : "are"} not in it)`;
  return `${counted(calls.length, "call")} in ${counted(turns, "turn")}, ${isKnown ? "" : "at least "}${number(sent)} tokens sent${without}. ${calls.length === 0 ? "" : isWhole ? "Every entry was shown in every call." : `"--call" with a number of the first column tells of each entry that was ${isShown ? "shown in part" : "not shown, or in part"}.`}`.trim();
}

/** What was paid for rows, and for what is in none: since, and of turns without a report. */
function costOfAll({
  calls,
  since: { sideCalls, cost },
  unreadableTurns,
  missingTurns,
  letGoTurns,
}: CallPage): string[] {
  const paid = missingTurns.filter((turn) => turn.calls !== null);
  const blind = unreadableTurns.length + letGoTurns + missingTurns.length - paid.length;
  const unended = missingTurns.reduce((sum, turn) => sum + turn.unended, 0);
  const aside = paid.flatMap((turn) => turn.cost ?? []);
  const costs = [...calls.map((row) => row.cost), ...(sideCalls === 0 ? [] : [cost]), ...aside];
  const known = costs.filter((each) => each !== null);
  if (known.length === 0) return [];
  const unknown = costs.length - known.length;
  const after =
    sideCalls === 0 || cost === null
      ? ""
      : `, ${dollarsText(cost.total)} of it since the newest call for ${counted(sideCalls, "side call")}`;
  const without = unknown === 0 ? "" : `; of ${counted(unknown, "model call")} it is not known`;
  const least = blind + unended === 0 ? "" : "at least ";
  const unlisted =
    aside.length === 0
      ? ""
      : `, ${dollarsText(addCosts(aside).total)} of it in ${counted(aside.length, "turn")} whose calls are not listed`;
  const summaries = addCosts(known).summariser;
  const sides =
    summaries === 0
      ? []
      : [
          `Side calls, such as for summaries, cost ${dollarsText(summaries)} of it; their tokens are not among those sent.`,
        ];
  return [
    `Cost: ${least}${dollarsText(addCosts(known).total)}${after}${unlisted}${without}${untoldText({ turns: blind, lines: 0 })}${unendedText({ unended })}.`,
    ...sides,
  ];
}

const whatRuns = ({ running }: CallRow): string[] => {
  if (running === null) return [];
  return [running === "call" ? "is being answered" : "is of a turn that goes on"];
};

const troubles = ({ marks }: CallRow): string[] =>
  marks.flatMap((mark) => (mark === "compaction" || mark === "prune" ? [] : MARK_WORDS[mark]));

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
  const sources = SOURCES.flatMap((source) =>
    source === "program" && row.tokens.program === 0
      ? []
      : [[NAMES[source] ?? source, number(row.tokens[source])]],
  );
  return [
    `Call ${row.id}, ${row.startedAt.slice(0, 19).replace("T", " ")}, ${row.model}, engine ${row.engine}`,
    ...whatRuns(row).map((what) => `This call ${what}.`),
    ...why,
    ...(row.cost === null ? [] : [`It cost ${costWithSides(row.cost, dollarsText)}.`]),
    ...row.happened.map((what) => `Before it: ${what}.`),
    ...describeProof(rebuilt),
    "",
    formatTable(["source", "tokens"], [...sources, ["total", number(row.tokens.total)]]),
    "",
    formatTable(["item", "is", "entry", "tokens", "cached", "begins"], items.map(itemCells)),
    ...summaries.flatMap(({ summaryId, by, tokens, covers, facts }) => [
      "",
      `Summary ${summaryId} by ${by}, ${number(tokens)} tokens, ${covers === null ? "whose engine does not say what it covers" : `covers ${counted(covers.entries, "entry", "entries")}, ${covers.from} to ${covers.to}`}.`,
      ...(facts === null ? [] : [describeFacts(facts)]),
    ]),
    "",
    `Of ${describeCounts(row.fates)}`,
  ].join("\n");
}

const NAMES: Partial<Record<(typeof SOURCES)[number], string>> = {
  program: "the program's own",
};

const MOST_NAMED = 5;

/** Of the exact names and numbers, not of what they mean. */
function describeFacts({ all, held, kinds, missing }: SummaryFacts): string {
  if (all === 0) return "What it covers says no exact names or numbers.";
  const parts = Object.entries(kinds).flatMap(([kind, of]) =>
    of.all === 0 ? [] : [`${number(of.held)} of ${number(of.all)} ${kind}`],
  );
  const gone = missing.slice(0, MOST_NAMED).map((fact) => visible(fact));
  const more = all - held - gone.length;
  const without =
    gone.length === 0
      ? ""
      : ` Missing: ${gone.join(", ")}${more > 0 ? ` and ${number(more)} more` : ""}.`;
  return `Of ${counted(all, "exact name or number", "exact names and numbers")} said in what it covers its text holds ${number(held)}, ${Math.floor((100 * held) / all)} % (${parts.join(", ")}).${without}`;
}

function describeProof(proof: Proof | null): string[] {
  if (proof === null) return [];
  return [proof.isSame ? "The request can be made again to the byte (--request)." : proof.why!];
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
    [...(item.isHeld ? ["[held]"] : []), ...marks.map(markOf), oneLine(preview)].join(" "),
  ];
}

const markOf = (mark: EntryMark): string =>
  mark.kind === "shortened"
    ? `[${number(mark.from)} → ${number(mark.to)} tokens by ${mark.rule}]`
    : `[changed by ${mark.rule}${(mark.ids ?? []).map(({ from, to }) => `, id ${from} → ${to}`).join("")}]`;

const oneLine = (text: string): string => {
  const line = visible(text.replace(/\s+/g, " ").trim());
  return line.length <= PREVIEW_CHARS ? line : `${line.slice(0, PREVIEW_CHARS - 1)}…`;
};

/** What a call has that another had not, and the other way round. */
export function formatDiff(diff: CallDiff): string {
  const { from, to, prefix, added, removed, changed } = diff;
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
    `From call ${from.id} (${number(from.tokens.total)} tokens) to call ${to.id} (${number(to.tokens.total)}, ${signed(to.tokens.total - from.tokens.total)}).`,
    ...describeRecount(diff),
    `Both begin with the same ${counted(prefix.items, "item")}, ${number(prefix.tokens)} tokens, ${formatShare(prefix.share, 1)} of the first.`,
    ...to.happened.map((what) => `Before the second: ${what}.`),
    ...lines.map((cells) => cells.filter((cell) => cell !== "").join("  ")),
    ...(lines.length === 0 ? ["Nothing is different."] : []),
  ].join("\n");
}

export function formatTrace({ entry, ranges, left }: EntryTrace): string {
  return [
    `${entry.number === null ? `Entry ${entry.entryId}` : `Entry ${entry.number} (${entry.entryId})`}, ${entry.role}, ${number(entry.tokens)} tokens: ${oneLine(entry.preview)}`,
    ...ranges.flatMap(({ from, to, calls, why, at, happened }, index) => [
      `${rangeOf({ from, to, calls })}: ${why}`,
      // What was so from the first call on was changed by nobody.
      ...(index === 0
        ? []
        : [
            `  since ${at.slice(0, 19).replace("T", " ")}${happened.length === 0 ? "" : `; before it: ${happened.join("; ")}`}`,
          ]),
    ]),
    ...(left === null ? [] : [`It is not on the branch any more: ${left}.`]),
    ...(ranges.length === 0 ? ["No model was called since it was stored."] : []),
  ].join("\n");
}

const rangeOf = ({ from, to, calls }: FoundText["shownIn"][number]): string =>
  calls === 1 ? `call ${from}` : `calls ${from} to ${to} (${number(calls)})`;

const WHAT_BEFORE = "nobody can tell whether their calls showed it";

export function formatFound(found: FoundText): string {
  const { text, shownIn, lost, summaries, calls } = found;
  const saying = summaries.filter(({ says }) => says);
  return [
    `"${visible(text)}" is said in ${counted(found.matching, "entry", "entries")}${numbersOf(found)}.`,
    ...leftOf(found.left),
    shownIn.length === 0
      ? found.unseenIn.length > 0
        ? "No call is known to have shown it."
        : `No call of ${number(calls)} showed it.`
      : `The model could read it in ${shownIn.map(rangeOf).join(", ")}.`,
    ...letGo(found.letGoTurns, WHAT_BEFORE),
    ...found.unseenIn.map(unseenText),
    ...lost.map((gap) => `Gone in ${rangeOf({ ...gap, from: gap.id })}: ${gap.why}.`),
    ...saying.map(({ summaryId }) => `Summary ${summaryId} says it.`),
    ...(summaries.length === 0
      ? []
      : [
          `Of ${counted(summaries.length, "summary", "summaries")} in these calls, ${saying.length === 0 ? "none says" : saying.length === 1 ? "1 says" : `${number(saying.length)} say`} it.`,
        ]),
  ].join("\n");
}

const leftOf = (left: FoundText["left"]): string[] =>
  left.map(
    ({ entryId, role, why }) =>
      `Entry ${entryId}, ${role}, says it and is not on the branch any more: ${why}.`,
  );

function numbersOf({ entries, matching, next }: FoundText): string {
  if (matching === 0 || entries.length === 0) return "";
  const named = entries.map((entry) => entry.number).join(", ");
  return `: ${named}${next === null ? "" : `, and more behind ${next} (--after ${next})`}`;
}

/** Each stretch of calls in which it was gone, and where it can be read now. */
export function formatBisect(found: FoundText): string {
  const { shownIn, unseenIn } = found;
  const said = `"${visible(found.text)}"`;
  const ranges = planRanges(found);
  const last = shownIn.at(-1);
  return [
    ...(last === undefined
      ? [`No call is known to have shown ${said}.`, ...unseenIn.map(unseenText)]
      : []),
    ...ranges.flatMap(({ to, gone, isUnseen }) => {
      if (gone === null) return [];
      const where = rangeOf({ ...gone, from: gone.id });
      return isUnseen
        ? [`${said} was last shown in call ${to}; of ${where} ${gone.why}.`]
        : [`${said} was last shown in call ${to} and is gone in ${where}: ${gone.why}.`];
    }),
    ...(last !== undefined && ranges.at(-1)?.gone === null
      ? [
          `${said} ${ranges.length === 1 ? "can still be read" : "can be read again"}: in ${rangeOf(last)}, the newest one included.`,
        ]
      : []),
    ...letGo(found.letGoTurns, WHAT_BEFORE),
  ].join("\n");
}

const unseenText = (range: FoundText["unseenIn"][number]): string =>
  `Nobody here can tell of ${rangeOf(range)}: ${range.why}.`;
