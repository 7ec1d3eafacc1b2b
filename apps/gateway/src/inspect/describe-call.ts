// Explains why one model call held what it held.
import type { PolicyChange } from "@clew/plugin-sdk/host";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { SENT_OTHERWISE, SET_ASIDE } from "../reports/door-rules.ts";
import { saidChanges } from "../reports/said-changes.ts";
import { counted, number } from "../text/number.ts";
import { tokensOfItems } from "./call-scale.ts";
import { itemsOf, type PlacedItem, summaryIn } from "./describe-items.ts";
import type { OpenedCall } from "./opened-call.ts";
import { degradedIn, engineOf } from "./placed-call.ts";
import type { SummaryRow } from "./shapes/one-call.ts";
import { whyUncached } from "./why-uncached.ts";

/** Pure. A sentence each: engine, budget, size, policy, recovery. */
export function explainCall(opened: OpenedCall): string[] {
  const { report, call, row } = opened;
  const { budget } = report;
  const uncached = whyUncached(row);
  const { size, policyChanges, remedies = [], leftOut = [] } = call;
  return [
    whoChose(opened),
    ...whoAsked(opened),
    ...(budget === null
      ? []
      : [
          `The window holds ${number(budget.contextWindow)} tokens; ${number(budget.reserve)} are kept for the reply, so a prompt has ${number(budget.promptBudget)}.`,
        ]),
    ...(size === undefined
      ? []
      : [
          `Before it was sent the host reckoned with about ${number(size.tokens)} tokens (${size.source === "counted" ? "the provider's last count and what came since" : "its estimate, by what the model counted before"}); messages are compacted above ${number(size.water.high)}.`,
        ]),
    row.lost ?? fatesOf(row.fates),
    ...triesOf(call),
    ...failureOf(opened),
    ...rulesOf(saidChanges(policyChanges)),
    ...(uncached === null ? [] : [`Not all could come from the cache: ${uncached}.`]),
    ...(remedies.length === 0
      ? []
      : [`The model had refused something, so it was asked differently: ${remedies.join(", ")}.`]),
    ...leftOut.map((what) => `Not asked of this model: ${what}.`),
    ...(opened.report.notices ?? []),
  ];
}

function fatesOf(fates: OpenedCall["row"]["fates"]): string {
  const { all, shown, summary, cleared, leftOut, unseen, shortened, changed } = fates;
  const otherwise = [
    ...(shortened === 0 ? [] : [`${number(shortened)} shortened`]),
    ...(changed === 0 ? [] : [`${number(changed)} otherwise than stored`]),
  ].join(", ");
  if (shown === all) {
    const whole = all === 1 ? "The one entry was shown" : `All ${number(all)} entries were shown`;
    return `${whole}${otherwise && `, ${otherwise}`}.`;
  }
  const elsewhere =
    unseen === 0
      ? ""
      : `; what the program showed of ${number(unseen)} in its own session, Clew cannot see`;
  return `Of ${counted(all, "entry", "entries")} ${number(shown)} ${shown === 1 ? "was" : "were"} shown${otherwise && ` (${otherwise})`}, ${number(summary)} stood in summaries, ${number(cleared)} ${cleared === 1 ? "was" : "were"} cleared, ${number(leftOut)} left out${elsewhere}.`;
}

function whoChose(opened: OpenedCall): string {
  const { engine, execution } = opened.report;
  if (execution?.cannot.includes("assemble-before-prompt"))
    return `${execution.label} chose by itself what its model sees: no engine was asked.`;
  const chose = `Engine "${engineOf(opened)}" chose`;
  const degraded = degradedIn(opened);
  if (degraded === null)
    return `${chose}, as ${engine.source === "configured" ? "configured" : "it is by default"}.`;
  return `${chose} in place of "${engine.configured ?? engine.infoId}", which failed in ${degraded.operation}: ${degraded.reason}`;
}

/** Of a call that a program made: what is listed is not all that its model was sent. */
function whoAsked({ call, report: { execution } }: OpenedCall): string[] {
  if (call.harness === undefined || execution === undefined) return [];
  const handed = execution.projections.map(({ thread, threadId, reason, as, handed }) => {
    const what = `${counted(handed, "message")} as ${as === "quoted" ? "quoted text" : as === "prompt" ? "the request alone" : "messages"}`;
    return `In the turn it was handed ${what}; thread ${threadId} (${thread}): ${reason}.`;
  });
  const compacted =
    execution.nativeCompactions === 0
      ? []
      : [
          `It compacted its own thread ${counted(execution.nativeCompactions, "time")} in the turn.`,
        ];
  return [
    `${execution.label} asked the model, by a request of its own with its own instructions and tools. ${whatIsListed(call)}`,
    ...handed,
    ...compacted,
    ...(execution.notices ?? []),
  ];
}

function whatIsListed({ held }: OpenedCall["call"]): string {
  if (held === undefined)
    return "Listed is what is known to be in it: what it was handed, and what came since.";
  return held === 0
    ? "Listed is what it was handed."
    : `Listed is the whole view, of which its thread held the first ${counted(held, "message")}.`;
}

/** Those before the last one; what of them was read is paid for. */
function triesOf({ retries, resent = [] }: OpenedCall["call"]): string[] {
  if (retries === 0) return [];
  const before =
    retries === 1 ? "the try before it was" : `the ${number(retries)} tries before it were`;
  const paid =
    resent.length === 0
      ? "refused, or broke off before anything was read"
      : `refused or broke off, and ${number(resent.length)} of ${number(retries)} ${resent.length === 1 ? "is" : "are"} part of its cost`;
  return [`It was asked ${counted(retries + 1, "time")}: ${before} ${paid}.`];
}

function failureOf({ call: { error, failure, windowTokens } }: OpenedCall): string[] {
  if (error === null) return [];
  if (failure?.kind !== "overflow") return [`It has no answer: ${error}`];
  const holds =
    windowTokens === undefined ? "" : `, as the model holds ${number(windowTokens)} tokens`;
  return [`Its provider refused it as too large${holds}, so no model has read it: ${error}`];
}

function rulesOf(changes: readonly PolicyChange[]): string[] {
  const rules = new Map<string, number>();
  for (const { rule, count = 1 } of changes) rules.set(rule, (rules.get(rule) ?? 0) + count);
  const messagesOf = (rule: string) => {
    const count = rules.get(rule) ?? 0;
    rules.delete(rule);
    return count === 0 ? null : counted(count, "message");
  };
  const aside = messagesOf(SET_ASIDE);
  const sent = messagesOf(SENT_OTHERWISE);
  const words = [...rules].map(([rule, count]) => `${rule} ${number(count)}×`);
  return [
    ...(aside === null ? [] : [`To make room the door set parts of ${aside} aside.`]),
    ...(sent === null ? [] : [`The client sent ${sent} otherwise than before.`]),
    ...(words.length === 0
      ? []
      : [`The transcript policy of the provider made changes: ${words.join(", ")}.`]),
  ];
}

/** Pure. Summaries that stood in the call, in order; `textOf` knows their texts. */
export function describeSummaries(
  opened: OpenedCall,
  textOf: (item: PlacedItem) => string,
): Omit<SummaryRow, "facts">[] {
  const { messages, call } = opened;
  const items = itemsOf(opened).map(({ item }) => item);
  const tokens = tokensOfItems(opened.row, items).slice(call.system.length + call.tools.length);
  const rows = new Map<string, Omit<SummaryRow, "facts">>();
  for (const [index, item] of messages.entries()) {
    const summaryId = summaryIn(item.source, opened);
    if (summaryId === null) continue;
    const isHost = item.source.kind === "entry";
    const known = rows.get(summaryId);
    const text = textOf({ part: "messages", index, item });
    rows.set(summaryId, {
      summaryId,
      by: isHost ? "compaction" : engineOf(opened),
      tokens: (known?.tokens ?? 0) + tokens[index]!,
      covers: known === undefined ? coverOf(opened, summaryId, isHost) : known.covers,
      sources: isHost ? sourcesOf(opened.path, opened.placeOf(summaryId)!) : [],
      text: known === undefined ? text : `${known.text}\n\n${text}`,
    });
  }
  return [...rows.values()];
}

/** What it stands for, in numbers; null = nothing, or nobody says. */
function coverOf(opened: OpenedCall, summaryId: string, isHost: boolean): SummaryRow["covers"] {
  const covered = coveredBy(opened, summaryId, isHost);
  const [first, last] = [covered[0], covered.at(-1)].map((entry) =>
    opened.numberOf(entry?.id ?? ""),
  );
  if (first === undefined || last === undefined) return null;
  return { from: first, to: last, entries: covered.length };
}

/** The entries it stands for, whatever else became of them; none where nobody says. */
export function coveredBy(
  opened: OpenedCall,
  summaryId: string,
  isHost: boolean,
): readonly TranscriptEntry[] {
  if (!isHost)
    return opened.members().filter(({ id }) => opened.facts.covered.get(id) === summaryId);
  const hidden = opened.hidden();
  return opened.path.filter(
    (entry, at) => hidden[at]?.id === summaryId && opened.numberOf(entry.id) !== undefined,
  );
}

/** The compaction that a compaction was made from, unless a reset came between. */
function sourcesOf(path: OpenedCall["path"], at: number): string[] {
  const before = path
    .slice(0, at)
    .findLast(({ type }) => type === "compaction" || type === "reset");
  return before?.type === "compaction" ? [before.id] : [];
}
