// The command `pnpm bench planted-facts`, which asks about what was told long ago.
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { isAbort } from "@clew/plugin-sdk/core";
import { DEFAULT_RESERVE_TOKENS } from "@clew/plugin-sdk/host";
import { loadExactCounter } from "@clew/plugin-sdk/tokens";
import { formatTable } from "../../../gateway/src/terminal/table.ts";
import { windowFor } from "../replay/frame.ts";
import { configOf, readEngineChoice } from "../replay/systems.ts";
import { describeMachine } from "../runner/machine.ts";
import { formatMachine } from "../runner/print.ts";
import { type Asked, askFacts } from "./ask.ts";
import { KINDS, planFacts, withDetour } from "./facts.ts";

export const description =
  "facts told anywhere in a long session: which of them the offline model can still answer";

const USAGE = `Usage: pnpm bench planted-facts [options]

  --seed N         of the facts (default: a new one, printed)
  --facts N        how many, spread over six kinds (default: 200)
  --turns N        of the conversation they are told in (default: 1500)
  --budget TOKENS  prompt budget, window minus reserve (default: 32000)
  --engine NAME    the engine (default: legacy)
  --told-to NAME   the engine the facts are told to, before a restart (default: no restart); with
                   another engine than --engine, that one has to import them
  --branch         the facts are told otherwise on a branch that is left again
  --plugin FOLDER  a plugin to load, for engines that are not built in; repeatable
  --json FILE      also write every question and answer to FILE
  --help           this text

A question counts as answered when the reply holds what was told last, after at most 2 calls of
tools that gave back at most 1,000 tokens. The offline model knows no language: a share is what
search and its few rules find, and a paraphrase is found by the names it shares.
`;

/** What looking one fact up may take. */
export const LIMITS = { calls: 2, tokens: 1000 } as const;

/** Exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      facts: { type: "string", default: "200" },
      turns: { type: "string", default: "1500" },
      budget: { type: "string", default: "32000" },
      engine: { type: "string", default: "legacy" },
      "told-to": { type: "string" },
      branch: { type: "boolean", default: false },
      plugin: { type: "string", multiple: true, default: [] },
      json: { type: "string" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return say(USAGE);
  const [seed, facts, turns, budget] = [values.seed, values.facts, values.turns, values.budget].map(
    Number,
  ) as [number, number, number, number];
  if (![seed, facts, turns, budget].every((number) => Number.isInteger(number) && number >= 0))
    return complain("--seed, --facts, --turns and --budget take whole numbers.");
  if (turns < 3 * facts + 200)
    return complain(`${facts} facts need at least ${3 * facts + 200} turns to be told in.`);
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  const contextTokens = windowFor(budget, DEFAULT_RESERVE_TOKENS);
  const base = {
    agents: { defaults: { contextTokens } },
    models: {
      providers: { offline: { models: [{ id: "offline", contextWindow: contextTokens }] } },
    },
  };
  const plan = planFacts({ seed, turns, facts });
  const total = turns + facts;
  const toldTo = values["told-to"];
  const configFor = (engine: string) =>
    configOf(readEngineChoice(engine), { base, pluginFolders: values.plugin });
  try {
    const asked = await askFacts({
      plan: values.branch ? withDetour(plan, seed) : plan,
      config: configFor(values.engine),
      ...(toldTo !== undefined && { toldTo: configFor(toldTo) }),
      counter: await loadExactCounter(),
      signal: stop.signal,
      onProgress: (done) => {
        if (done % 100 === 0) process.stderr.write(`${done} of ${total} turns\n`);
      },
    });
    say(
      `${formatMachine(describeMachine())}\nseed ${seed}, ${turns} turns, ${values.engine} at ${budget / 1000}k\n`,
    );
    say(`\n${formatAsked(asked)}\n`);
    if (values.json !== undefined)
      writeFileSync(values.json, `${JSON.stringify({ v: 1, seed, turns, asked }, null, 1)}\n`);
    return 0;
  } catch (error) {
    if (!isAbort(error, stop.signal)) throw error;
    return 130;
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  }
}

/** Pure. */
export function formatAsked(asked: readonly Asked[]): string {
  const row = (title: string, some: readonly Asked[]) => {
    const right = some.filter(({ isRight }) => isRight);
    const within = right.filter(
      ({ calls, tokens }) => calls <= LIMITS.calls && tokens <= LIMITS.tokens,
    );
    const mean = (of: (one: Asked) => number) =>
      (some.reduce((sum, one) => sum + of(one), 0) / Math.max(1, some.length)).toFixed(1);
    return [
      title,
      String(some.length),
      `${((100 * within.length) / Math.max(1, some.length)).toFixed(1)} %`,
      String(right.length - within.length),
      `${((100 * some.filter(({ isRight, isFound }) => isRight || isFound).length) / Math.max(1, some.length)).toFixed(1)} %`,
      mean(({ calls }) => calls),
      mean(({ tokens }) => tokens),
      String(Math.max(0, ...some.map(({ tokens }) => tokens))),
    ];
  };
  const headings = [
    "kind",
    "asked",
    "answered",
    "right, but over the limits",
    "answered or in what tools gave",
    "calls",
    "tokens",
    "most",
  ];
  const rows = KINDS.map((kind) =>
    row(
      kind,
      asked.filter((one) => one.kind === kind),
    ),
  );
  return formatTable(headings, [...rows, row("all", asked)]);
}

function say(text: string): number {
  process.stdout.write(text);
  return 0;
}

function complain(text: string): number {
  process.stderr.write(`${text}\n`);
  return 2;
}
