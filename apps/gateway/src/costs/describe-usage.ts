// How people read what was spent.
import { shortName } from "../sessions/keys.ts";
import { formatTable } from "../terminal/table.ts";
import { counted, number } from "../text/number.ts";
import { dollarsText, isSum, sumText, unendedText } from "./describe.ts";
import { UNPAID } from "./unpaid.ts";
import type { NamedSum, Usage, UsageSum, WasteSum } from "./usage.ts";

/** Pure. Tables by session, engine, model and day, and what was for nothing. */
export function describeUsage(
  { total, notCounted, unpaid, untold, ...lists }: Usage,
  session: string | undefined,
): string {
  const left = notCounted.map(
    (key) => `Session "${shortName(key)}" is not in it: no model was asked for it.`,
  );
  if (total.modelCalls + total.unended === 0 && untold.sessions > 0)
    return [
      `What model calls cost is not known: ${counted(untold.sessions, "session")} asked a model, and nothing of it is in the folder costs of CLEW_HOME, as where it was removed.`,
      ...left,
    ].join(" ");
  if (total.modelCalls + total.unended === 0)
    return [
      session === undefined
        ? "No model was asked yet."
        : `No model was asked in session "${shortName(session)}" yet.`,
      ...left,
    ].join(" ");
  return [
    ...(unpaid === null ? [] : [UNPAID[unpaid]]),
    `${isAtLeast(total, untold) ? "At least " : ""}${sentence(total)}${untoldText(untold)}${unendedText(total)}.`,
    ...wasteLines(total),
    "",
    ...table("session", lists.sessions, shortName),
    ...table("engine", lists.engines),
    ...table("model", lists.models),
    ...table("day", lists.days),
    ...left,
  ]
    .join("\n")
    .trimEnd();
}

const isAtLeast = ({ cost, unknown, unended }: UsageSum, untold: Usage["untold"]): boolean =>
  isSum({ dollars: cost.total, unknown }) && (isLess(untold) || unended > 0);

const isLess = ({ turns, lines }: Pick<Usage["untold"], "turns" | "lines">): boolean =>
  turns + lines > 0;

/** What is missing in a sum; "" = nothing is. */
export function untoldText({ turns, lines }: Pick<Usage["untold"], "turns" | "lines">): string {
  const told = [
    ...(turns === 0 ? [] : [`${counted(turns, "turn")} cannot be told`]),
    ...(lines === 0 ? [] : [`${counted(lines, "line")} of what was written down cannot be read`]),
  ];
  return told.length === 0 ? "" : ` (${told.join(", ")})`;
}

/** Pure. Half a sentence: "$4.12 for 60 calls, 61 % of 90,000 prompt tokens from a cache". */
export function sentence(sum: UsageSum): string {
  const { modelCalls, sideCalls, cost, unknown, estimated } = sum;
  const prompt = promptOf(sum);
  const sides =
    sideCalls === 0
      ? ""
      : `; of it ${dollarsText(cost.summariser)} for ${counted(sideCalls, "side call")} (summaries and the like)`;
  const broken =
    estimated === 0
      ? ""
      : `; of ${counted(estimated, "call")} no provider said what was counted, and what was sent is estimated`;
  return `${sumText({ dollars: cost.total, unknown }, modelCalls)}, ${shareText(sum)} of ${counted(prompt, "prompt token")} from a cache${sides}${broken}`;
}

function wasteLines({ waste }: UsageSum): string[] {
  const line = ({ calls, tokens, dollars }: WasteSum, what: string) =>
    calls === 0
      ? []
      : [
          `For nothing: ${dollarsText(dollars)}, ${counted(tokens, "token")} in ${counted(calls, "call")} ${what}.`,
        ];
  return [
    ...line(waste.brokenPrefix, "that were sent before and not read from a cache"),
    ...line(waste.afterPause, "that a cache had forgotten after a pause"),
    ...line(waste.resent, "that failed or had to be repeated"),
    ...line(waste.overFull, "refused as too large"),
  ];
}

function table(
  heading: string,
  sums: readonly NamedSum[],
  nameOf: (name: string) => string = (name) => name,
): string[] {
  const headings = [
    heading,
    "cost",
    "model calls",
    "prompt tokens",
    "from cache",
    "output",
    "for nothing",
  ];
  const rows = sums.map((sum) => [
    nameOf(sum.name),
    costText(sum),
    number(sum.modelCalls),
    number(promptOf(sum)),
    shareText(sum),
    number(sum.tokens.output),
    dollarsText(wastedIn(sum)),
  ]);
  return [formatTable(headings, rows), ""];
}

const costText = ({ cost, unknown, unended, modelCalls }: UsageSum): string =>
  unknown === modelCalls
    ? "not known"
    : `${dollarsText(cost.total)}${unknown + unended > 0 ? " or more" : ""}`;

const wastedIn = ({ waste }: UsageSum): number =>
  Object.values(waste).reduce((sum, { dollars }) => sum + dollars, 0);

const promptOf = ({ tokens }: UsageSum): number =>
  tokens.input + tokens.cacheRead + tokens.cacheWrite;

function shareText(sum: UsageSum): string {
  const prompt = promptOf(sum);
  return prompt === 0 ? "–" : `${Math.round((100 * sum.tokens.cacheRead) / prompt)} %`;
}
