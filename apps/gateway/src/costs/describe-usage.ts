// How people read what was spent.
import { shortName } from "../sessions/keys.ts";
import { formatTable } from "../terminal/table.ts";
import { counted, number } from "../text/number.ts";
import { dollarsText, spentText } from "./describe.ts";
import type { NamedSum, Usage, UsageSum, WasteSum } from "./usage.ts";

/** Pure. Tables by session, engine, model and day, and what was for nothing. */
export function describeUsage(
  { total, notCounted, ...lists }: Usage,
  session: string | undefined,
): string {
  const left = notCounted.map(
    (key) => `The demo session ${shortName(key)} is not in it: no model was asked for it.`,
  );
  if (total.calls === 0)
    return [
      session === undefined
        ? "No model was asked yet."
        : `No model was asked in session "${shortName(session)}" yet.`,
      ...left,
    ].join(" ");
  return [
    `${sentence(total)}.`,
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

/** Pure. Half a sentence: "$4.12 for 60 calls, 61 % of 90,000 prompt tokens from a cache". */
export function sentence(sum: UsageSum): string {
  const { calls, sideCalls, cost, unknown, estimated } = sum;
  const prompt = promptOf(sum);
  const sides =
    sideCalls === 0
      ? ""
      : `; of it ${dollarsText(cost.summariser)} for ${counted(sideCalls, "side call")} (summaries and the like)`;
  const broken =
    estimated === 0
      ? ""
      : `; ${counted(estimated, "call")} broke off, and what was sent is estimated`;
  return `${spentText({ dollars: cost.total, unknown })} for ${counted(calls, "model call")}, ${shareText(sum)} of ${counted(prompt, "prompt token")} from a cache${sides}${broken}`;
}

function wasteLines({ waste }: UsageSum): string[] {
  const line = ({ calls, tokens, dollars }: WasteSum, what: string) =>
    calls === 0
      ? []
      : [
          `For nothing: ${dollarsText(dollars)}, ${counted(tokens, "token")} in ${counted(calls, "call")} ${what}.`,
        ];
  return [
    ...line(waste.brokenPrefix, "that a cache held and did not give"),
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
    "calls",
    "prompt tokens",
    "from cache",
    "output",
    "for nothing",
  ];
  const rows = sums.map((sum) => [
    nameOf(sum.name),
    costText(sum),
    number(sum.calls),
    number(promptOf(sum)),
    shareText(sum),
    number(sum.tokens.output),
    dollarsText(wastedIn(sum)),
  ]);
  return [formatTable(headings, rows), ""];
}

const costText = ({ cost, unknown, calls }: UsageSum): string =>
  unknown === calls ? "not known" : `${dollarsText(cost.total)}${unknown > 0 ? " or more" : ""}`;

const wastedIn = ({ waste }: UsageSum): number =>
  waste.brokenPrefix.dollars + waste.resent.dollars + waste.overFull.dollars;

const promptOf = ({ tokens }: UsageSum): number =>
  tokens.input + tokens.cacheRead + tokens.cacheWrite;

function shareText(sum: UsageSum): string {
  const prompt = promptOf(sum);
  return prompt === 0 ? "–" : `${Math.round((100 * sum.tokens.cacheRead) / prompt)} %`;
}
