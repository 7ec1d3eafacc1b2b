// Runs `clew models`, which tells who answers and forgets what was learned of models.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { modelChains } from "../config/agent.ts";
import { loadConfig } from "../config/load.ts";
import { silentLog } from "../log/silent.ts";
import { describeRest } from "../models/describe-rest.ts";
import { modelRequest } from "../models/model-request.ts";
import { createModelRests } from "../models/model-rests.ts";
import { createModelWindows } from "../models/model-windows.ts";
import { isLeftAlone, planChain, restOf } from "../models/plan-rest.ts";
import { resolveModel } from "../models/resolve.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import { printable } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { formatTable } from "../terminal/table.ts";
import { nearestName } from "../text/nearest.ts";
import { number } from "../text/number.ts";

export function modelWindows(
  { json = false }: { json?: boolean },
  { environment, output }: Shell,
): number {
  const models = createModelWindows({ home: environment.home, log: silentLog }).all();
  const rows = Object.entries(models).map(([name, { tokens, at }]) => [
    printable(name),
    number(tokens),
    at.slice(0, 10),
  ]);
  if (json) output.json({ models });
  else if (rows.length === 0) output.line("No provider has named a window smaller than was known.");
  else output.line(formatTable(["model", "tokens", "said on"], rows));
  return EXIT.done;
}

/** Exit code 1 when there was nothing to forget. A running gateway knows at its next turn. */
export async function forgetWindow(
  name: string,
  { json = false }: { json?: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const forgotten = await createModelWindows({ home: environment.home, log: silentLog }).forget(
    name,
  );
  if (json) output.json({ model: name, forgotten });
  else
    output.line(
      printable(
        forgotten
          ? `Forgotten what the provider of ${name} said; the settings decide again.`
          : `Nothing is known of ${name} that its provider said; "clew models windows" lists what is.`,
      ),
    );
  return forgotten ? EXIT.done : EXIT.failed;
}

/** Each agent's models in the order in which they are asked now. */
export async function modelStatus(
  { json = false }: { json?: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const { config } = await loadConfig(environment.configFile);
  const rests = createModelRests({ home: environment.home, log: silentLog }).all();
  const now = Date.now();
  const rows = modelChains(config, environment.home).flatMap(({ agent, models }) => {
    const { order } = planChain(models, rests, now);
    const problems = order.map((name) =>
      problemOf(() => resolveModel({ ...modelRequest(config, environment), name })),
    );
    const chain = order.filter((_, at) => problems[at] === null);
    const told = order.map((name, at) => ({
      ...{ agent, model: name, problem: problems[at]! },
      rest: restOf(rests, name, now) ?? null,
      isLeftAlone: isLeftAlone(name, { chains: [chain], rests, now }),
    }));
    // What cannot be asked is passed over.
    return told.toSorted((one, other) => +(one.problem !== null) - +(other.problem !== null));
  });
  const stateOf = ({ problem, rest, isLeftAlone }: (typeof rows)[number]) =>
    problem ?? (rest === null ? "ready" : describeRest(rest, isLeftAlone));
  if (json) output.json({ models: rows });
  else
    output.line(
      formatTable(
        ["agent", "model", "state"],
        rows.map((row) => [row.agent, row.model, stateOf(row)].map(printable)),
      ),
    );
  return EXIT.done;
}

function problemOf(resolve: () => unknown): string | null {
  try {
    resolve();
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Undefined: an agent asks that model, or it failed lately, whatever the settings say now. */
async function whyUnknown(
  name: string,
  environment: Shell["environment"],
): Promise<string | undefined> {
  const { config } = await loadConfig(environment.configFile);
  const asked = modelChains(config, environment.home).flatMap(({ models }) => models);
  const rests = createModelRests({ home: environment.home, log: silentLog }).all();
  const known = [...new Set([...asked, ...Object.keys(rests)])];
  if (known.includes(name) || restOf(rests, name, Date.now()) !== undefined) return undefined;
  const nearest = nearestName(name, known);
  const guess = nearest === null ? "" : ` Did you mean "${nearest}"?`;
  return `No agent asks a model "${name}".${guess} "clew models status" lists those that are asked.`;
}

/** Exit code 1 when it was not left alone. A running gateway knows at its next turn. */
export async function retryModel(
  name: string,
  { json = false }: { json?: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const unknown = await whyUnknown(name, environment);
  if (unknown !== undefined) throw new ContextEngineError("REQUEST_INVALID", unknown);
  const ended = createModelRests({ home: environment.home, log: silentLog }).end(name);
  if (json) output.json({ model: name, ended });
  else
    output.line(
      printable(
        ended
          ? `${name} is asked again from the next turn on.`
          : `${name} is not left alone; "clew models status" lists what is.`,
      ),
    );
  return ended ? EXIT.done : EXIT.failed;
}
