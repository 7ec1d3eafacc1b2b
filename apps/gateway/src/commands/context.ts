// The command `/context`, which shows what the next call would send.
import type { ItemSource, PreviewedStep, ReportItem, RequestPreview } from "@clew/engine-core";
import { describeCounts } from "../inspect/describe-counts.ts";
import { describeMissing } from "../inspect/describe-missing.ts";
import type { MissingTurn } from "../inspect/shapes/calls.ts";
import type { FateCounts } from "../inspect/shapes/entries.ts";
import { describeCache } from "../models/describe-cache.ts";
import type { TurnCache } from "../models/turn-cache.ts";
import { shareOut } from "../reports/share-out.ts";
import { formatTable } from "../terminal/table.ts";
import { number } from "../text/number.ts";

export interface SourceShare {
  source: string;
  items: number;
  tokens: number;
}

export interface ContextSummary {
  engine: string;
  /** System, tools and messages, in this order; together they have `tokens`. */
  sources: SourceShare[];
  /** What the engine says of why messages are there, in their order. */
  reasons: { reason: string; items: number; tokens: number }[];
  /** As every decision sees them; shared out among sources and items as these are estimated. */
  tokens: number;
  promptBudget: number;
  contextWindow: number;
  /** What would become of the session's entries; null = the call would not be made as it is. */
  fates: FateCounts | null;
  /** The program that makes the request, and whether what it shows is known; null = none does. */
  program: { label: string; isSeen: boolean } | null;
  /** Tokens over the budget; 0 = it fits. */
  overflow: number;
  /** How the turn would make it smaller; null = it would not. */
  shrinks: PreviewedStep | null;
  /** Tokens of messages above which it is compacted; null = that was not found out. */
  highWater: number | null;
  /** Turns since the last call that was reported which have no report. */
  missingTurns: readonly MissingTurn[];
  /** What the last call read from the provider's cache, and should have; null = not known. */
  cache: TurnCache | null;
}

/** Pure. */
export function summarizePreview(
  { call, size, nextMessageTokens, heldBack, shrinks, promptEntryId, report }: RequestPreview,
  known: Pick<ContextSummary, "cache" | "fates" | "missingTurns">,
): ContextSummary {
  const isNext = ({ source }: ReportItem) =>
    source.kind === "entry" && source.entryId === promptEntryId;
  const messages = (call?.messages.items ?? []).filter((item) => !isNext(item));
  const [system, tools] = [call?.system ?? [], call?.tools ?? []];
  const estimate = sumOf([...system, ...tools, ...messages]);
  // Of what fits the person's message is told apart; what does not is told with it.
  const tokens = size === null ? estimate : size.tokens - (heldBack ? 0 : nextMessageTokens);
  const shares = shareOut(tokens, estimate);
  const { budget, engine, execution } = report;
  return {
    engine: engine.ran,
    program:
      execution === undefined
        ? null
        : {
            label: execution.label,
            isSeen: !execution.cannot.includes("assemble-before-prompt"),
          },
    sources: shares([...group(system), ...group(tools), ...group(messages)]),
    reasons: shares(reasonsOf(messages)),
    tokens,
    promptBudget: budget?.promptBudget ?? 0,
    contextWindow: budget?.contextWindow ?? 0,
    ...known,
    overflow: heldBack ? (size?.overflow ?? 0) : 0,
    shrinks,
    highWater: size?.water.high ?? null,
  };
}

const sumOf = (parts: readonly { tokens: number }[]) =>
  parts.reduce((sum, { tokens }) => sum + tokens, 0);

/** Pure. */
export function describeContextSummary(summary: ContextSummary): string {
  const { engine, sources, reasons, tokens, promptBudget, contextWindow } = summary;
  const { fates, overflow } = summary;
  const budget = `${number(promptBudget)} (window ${number(contextWindow)})`;
  if (overflow > 0)
    return `The next call would need about ${number(tokens)} tokens of ${budget}, ${number(overflow)} too many, so ${firstStep(summary)}`;
  const left = fates === null || fates.shown === fates.all ? "" : ` Of ${describeCounts(fates)}`;
  const rows = sources.map(({ source, items, tokens: each }) => [
    source,
    number(items),
    number(each),
  ]);
  return [
    `${whoSends(summary, budget)}${left}`,
    formatTable(
      ["source", "items", "tokens"],
      [
        ...rows,
        [
          "total",
          number(sources.reduce((sum, { items }) => sum + items, 0)),
          number(sumOf(sources)),
        ],
      ],
    ),
    ...reasons.map(
      ({ reason, items, tokens: each }) =>
        `Engine "${engine}": ${number(items)} ${items === 1 ? "item" : "items"}, ${number(each)} tokens: ${reason}.`,
    ),
    ...afterReply(summary),
    ...cacheLine(summary.cache),
    ...describeMissing(summary.missingTurns).map((missing) => `${missing}.`),
  ].join("\n");
}

/** A program that keeps its own thread makes its requests itself. */
function whoSends({ program, tokens }: ContextSummary, budget: string): string {
  if (program === null)
    return `The next call sends about ${number(tokens)} tokens of ${budget}, plus your message.`;
  if (!program.isSeen)
    return `${program.label} is handed your message, and about ${number(tokens)} tokens besides; what its own session holds, and how much room that leaves, Clew cannot see.`;
  return `The next call is made by ${program.label}, of which about ${number(tokens)} tokens of ${budget}, plus your message, come from here: what its thread holds of them is not handed over again. It adds instructions and tools of its own.`;
}

function reasonsOf(items: readonly ReportItem[]): ContextSummary["reasons"] {
  const groups = new Map<string, ContextSummary["reasons"][number]>();
  for (const { engineReason: reason, tokens } of items) {
    if (reason === undefined) continue;
    const known = groups.get(reason) ?? { reason, items: 0, tokens: 0 };
    groups.set(reason, { reason, items: known.items + 1, tokens: known.tokens + tokens });
  }
  return [...groups.values()];
}

function firstStep({ shrinks, engine }: ContextSummary): string {
  switch (shrinks?.by) {
    case "host":
      return 'the turn will compact first; "/compact" does so now.';
    case "engine":
      return `the turn will first ask engine "${engine}" to compact; "/compact" does so now.`;
    case "cut":
      return "the turn will first shorten old tool results.";
    case undefined:
      return "the model would refuse it.";
  }
}

const afterReply = ({ shrinks, highWater }: ContextSummary): string[] =>
  shrinks?.when === "after" && highWater !== null
    ? [
        `More than ${number(highWater)} tokens of it are messages: the host compacts after the reply; "/compact" does so now.`,
      ]
    : [];

/** Nothing where nothing is cached, or nobody wants it. */
export function cacheLine(cache: TurnCache | null): string[] {
  const known = cache === null ? null : describeCache(cache);
  return known === null ? [] : [`Cache: ${known}`];
}

function group(items: readonly ReportItem[]): SourceShare[] {
  const groups = new Map<string, SourceShare>();
  for (const item of items) {
    const source = sourceName(item);
    const known = groups.get(source) ?? { source, items: 0, tokens: 0 };
    groups.set(source, { source, items: known.items + 1, tokens: known.tokens + item.tokens });
  }
  return [...groups.values()];
}

const ROLES: Readonly<Record<string, string>> = {
  user: "your messages",
  assistant: "replies",
  toolResult: "tool results",
  compactionSummary: "summary of older history",
  branchSummary: "summary of another branch",
  bashExecution: "commands you ran",
  custom: "notes by the host and plugins",
};

function sourceName({ source, role = "", changed }: ReportItem): string {
  const name = ROLES[role] ?? role;
  return source.kind === "entry"
    ? `${name}${changed ? ", shortened or changed" : ""}`
    : otherSource(source, name);
}

function otherSource(source: Exclude<ItemSource, { kind: "entry" }>, role: string): string {
  switch (source.kind) {
    case "system":
      return source.part === "engine" ? "system: added by the engine" : `system: ${source.part}`;
    case "tool-schema":
      return "tools";
    case "summary":
      return "summaries by the engine";
    case "engine":
      return `made by the engine: ${role}`;
    case "policy":
      return `added for the provider: ${source.rule}`;
    case "ledger":
      return "ledger";
  }
}
