// Runs `clew models list`, which tells what is known of every model.
import { loadConfig } from "../config/load.ts";
import { silentLog } from "../log/silent.ts";
import { describeRest } from "../models/describe-rest.ts";
import { type ListedModel, listModels } from "../models/list-models.ts";
import { createModelRests } from "../models/model-rests.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import { printable } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { formatTable } from "../terminal/table.ts";
import { number } from "../text/number.ts";

/** Asks no network. `filter`: part of the names wanted. Exit code 1 when no name holds it. */
export async function modelList(
  filter: string | undefined,
  { json = false }: { json?: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const { config } = await loadConfig(environment.configFile);
  const rests = createModelRests({ home: environment.home, log: silentLog }).all();
  const wanted = (filter ?? "").toLowerCase();
  const models = listModels({ config, environment, rests, now: Date.now() }).filter(({ name }) =>
    name.toLowerCase().includes(wanted),
  );
  if (json) output.json({ models });
  else if (models.length === 0)
    output.line(
      printable(`No model's name holds "${filter}"; "clew models list" lists what is known.`),
    );
  else {
    output.line(formatTable(HEADINGS, models.map(rowOf)));
    const dates = [...new Set(models.flatMap(({ prices }) => prices?.asOf ?? []))];
    output.note(
      `Prices in US dollars per million tokens of input / output${dates.length === 0 ? "" : `, recorded ${dates.join(", ")}`}; "provider/*" takes any name; --json says more.`,
    );
  }
  return models.length === 0 ? EXIT.failed : EXIT.done;
}

const HEADINGS = [
  "model",
  "speaks",
  "window",
  "reply",
  "thinking",
  "cache",
  "prices",
  "signs in with",
  "state",
] as const;

const UNKNOWN = "?";

const rowOf = (model: ListedModel): string[] =>
  [
    model.name,
    model.api ?? UNKNOWN,
    model.contextWindow === null ? UNKNOWN : number(model.contextWindow),
    model.maxOutputTokens === null ? UNKNOWN : number(model.maxOutputTokens),
    thinkingOf(model),
    model.cache ?? UNKNOWN,
    model.prices === null ? UNKNOWN : `${model.prices.input} / ${model.prices.output}`,
    model.signsInWith ?? "",
    stateOf(model),
  ].map(printable);

const thinkingOf = ({ thinking, canStopThinking }: ListedModel): string =>
  thinking === null ? UNKNOWN : canStopThinking ? thinking : `${thinking}, always`;

/** Who uses it, and what is in the way. */
function stateOf({ usedBy, problem, rest, isLeftAlone }: ListedModel): string {
  const state = problem ?? (rest === null ? "ready" : describeRest(rest, isLeftAlone));
  return usedBy.length === 0 ? state : `${state} (${usedBy.join("; ")})`;
}
