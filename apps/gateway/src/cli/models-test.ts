// Runs `clew models test`, which compares a provider with its emulator.
import { createInterface } from "node:readline/promises";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { RequestSigner } from "@clew/providers";
import { EMULATED_APIS } from "@clew/providers/testing";
import { agentSettings, defaultAgentId } from "../config/agent.ts";
import { loadConfig } from "../config/load.ts";
import { keepCredential } from "../credentials/keep.ts";
import { keepText } from "../credentials/keep-text.ts";
import { signIn } from "../credentials/sign-in.ts";
import { CHECKS } from "../deep-test/checks.ts";
import {
  type CheckResult,
  callsOf,
  type Estimate,
  estimateChecks,
  type Outcome,
  runChecks,
} from "../deep-test/run-checks.ts";
import { explainRefusal, explainUnlisted } from "../models/explain-refusal.ts";
import { modelRequest } from "../models/model-request.ts";
import { type ResolvedModel, resolveModel } from "../models/resolve.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import { printable } from "../terminal/output.ts";
import { progressLine } from "../terminal/progress-line.ts";
import type { Shell } from "../terminal/shell.ts";
import { formatTable } from "../terminal/table.ts";
import { counted, number } from "../text/number.ts";

export interface TestModelOptions {
  /** All checks. Default: the first, a plain question. */
  deep?: boolean;
  /** Checks by id. Default: all of them. */
  only?: readonly string[];
  /** Default: a person is asked to agree to the cost. */
  yes?: boolean;
  json?: boolean;
}

/** Exit code 1 when provider and emulator differ somewhere, or one was not answered. */
export async function testModel(
  wanted: string | undefined,
  { deep = false, only, yes = false, json = false }: TestModelOptions,
  { environment, output }: Shell,
): Promise<number> {
  const { config } = await loadConfig(environment.configFile);
  const name = wanted ?? agentSettings(config, environment.home, defaultAgentId(config)).model;
  const resolved = resolveModel({ ...modelRequest(config, environment), name });
  const { model, endpoint } = resolved;
  if (!EMULATED_APIS.includes(model.api))
    throw refused(
      `${name} speaks "${model.api}", of which there is no emulator to compare it with.`,
    );
  const checks = chosen(only, deep);
  const estimate = estimateChecks({ checks, model, endpoint });
  output.note(printable(describeCost(name, estimate)));
  if (!yes && !(await agrees())) return EXIT.failed;

  const stop = new AbortController();
  const interrupt = () => stop.abort();
  process.once("SIGINT", interrupt);
  const results: CheckResult[] = [];
  try {
    const sign = signerOf(resolved, environment.readText);
    const { signal } = stop;
    const run = runChecks({ checks, model, endpoint, signal, ...(sign && { sign }) });
    for await (const result of run) {
      results.push(result);
      output.note(printable(`${results.length}/${checks.length} ${result.id}: ${result.state}`));
    }
  } finally {
    process.off("SIGINT", interrupt);
  }
  const last = results.at(-1)?.provider;
  const problem = last?.kind === "barred" ? await explainRefusal(last.error, resolved) : null;
  const isAsked = problem === null && !stop.signal.aborted;
  const warning = isAsked ? await explainUnlisted(resolved) : null;
  if (json)
    output.json({
      ...{ model: name, api: model.api, atMost: estimate, problem, warning },
      ...{ complete: results.length === checks.length, checks: results },
    });
  else if (problem === null) print(results, checks.length, output);
  else output.line(printable(`${name} cannot be asked. ${problem}`));
  if (!json && warning !== null) output.line(printable(`warning: ${warning}`));
  if (stop.signal.aborted) return EXIT.cancelled;
  const isFine = results.every(({ state }) => state === "same" || state === "does-not-apply");
  return isFine ? EXIT.done : EXIT.failed;
}

const refused = (words: string) => new ContextEngineError("REQUEST_INVALID", words);

function chosen(only: readonly string[] | undefined, deep: boolean) {
  const unknown = only?.find((id) => !CHECKS.some((check) => check.id === id));
  if (unknown !== undefined)
    throw refused(
      `There is no check "${unknown}"; there are: ${CHECKS.map(({ id }) => id).join(", ")}.`,
    );
  if (only !== undefined) return CHECKS.filter(({ id }) => only.includes(id));
  return deep ? CHECKS : CHECKS.slice(0, 1);
}

function describeCost(name: string, { calls, inputTokens, outputTokens, cost }: Estimate): string {
  const price =
    cost === null
      ? "no price of it is known"
      : `at most about $${cost.toFixed(2)} by the prices that Clew knows, which may be out of date`;
  return `${counted(calls, "call")} of ${name}, at most ${number(inputTokens)} tokens in and ${number(outputTokens)} out: ${price}.`;
}

async function agrees(): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw refused("Nobody is there to agree to what this costs; add --yes.");
  const goOn = progressLine()?.pauses();
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/i.test((await lines.question("Go on? [y/N] ")).trim());
  } finally {
    lines.close();
    goOn?.();
  }
}

function signerOf(
  { model, endpoint, access }: ResolvedModel,
  readText: Shell["environment"]["readText"],
): RequestSigner | undefined {
  if (access.source === undefined) return undefined;
  const reach = { fetch: globalThis.fetch, now: Date.now, readText, keepText };
  const kept = keepCredential(access.source, reach);
  // The headers of a key are the same for every call.
  const [call] = callsOf(CHECKS[0]!, model);
  return signIn({ call: call!, endpoint, kept, region: access.region, now: Date.now });
}

function print(results: readonly CheckResult[], wanted: number, output: Shell["output"]): void {
  const count = (state: CheckResult["state"]) =>
    results.filter((result) => result.state === state).length;
  const told = results.filter(({ state }) => state === "different" || state === "unanswered");
  if (told.length > 0)
    output.line(
      formatTable(
        ["check", "what was tried", "the provider", "the emulator"],
        told.map(({ id, title, provider, emulator }) =>
          [id, title, describe(provider), describe(emulator)].map(printable),
        ),
      ),
    );
  const left = wanted - results.length;
  output.line(
    `${counted(wanted, "check")}: ${count("same")} the same, ${count("different")} different, ${count("unanswered")} not answered, ${count("does-not-apply")} do not apply${left > 0 ? `, ${left} left out` : ""}.`,
  );
}

const WORDS = 160;

function describe(outcome: Outcome | null): string {
  if (outcome === null) return "";
  if (outcome.kind === "taken") {
    const shown = Object.entries(outcome.shows).map(([what, is]) => `${is ? "" : "not: "}${what}`);
    return ["taken", ...shown].join(", ");
  }
  const told = outcome.kind === "barred" ? outcome.error.message : outcome.words;
  const words = told.replace(/\s+/g, " ");
  const short = words.length > WORDS ? `${words.slice(0, WORDS)}…` : words;
  return outcome.kind === "refused" ? `refused (${outcome.as}): ${short}` : `no answer: ${short}`;
}
