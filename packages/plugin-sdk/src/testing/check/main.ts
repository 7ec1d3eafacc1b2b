#!/usr/bin/env node
// The command `plugin-sdk check`, which tries an engine against the contract.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { CASE_GROUPS } from "../case.ts";
import { CONFORMANCE_CASES } from "../cases/index.ts";
import { type CaseResult, type ConformanceReport, casesOf } from "../conformance.ts";
import { isScript, type Script } from "../sessions/script.ts";
import { runAsChild } from "./child.ts";
import { messageOf } from "./load-engines.ts";
import { nodeFault } from "./node-version.ts";
import { type Apart, type Job, runApart } from "./run-apart.ts";

const USAGE = `Usage: plugin-sdk check ENGINE [options]

Tries a context engine against the contract. ENGINE is a module that exports createEngine(), the
entry of a plugin that registers an engine, its folder, or an installed package. It runs in a
process of its own; what it stores goes into temporary folders.

  --engine ID     which engine, where the plugin registers several
  --settings FILE what the plugin is given as its settings, as JSON
  --json          the report as JSON on standard output
  --case NAME     only this case, or this group of cases; may be given several times
  --sessions N    random sessions of each kind (12)
  --seed N        another number tries other sessions (1)
  --salt TEXT     what names and words in them are drawn from, as a failure tells it (random)
  --timeout N     seconds that one call of the engine may take (20)
  --replay FILE   run the session in FILE again, as a report has it under "session"
  --bail          stop after the first case that fails
  --help          this text

Exit code: 0 all rules are kept, 1 one is broken, 2 wrong use or no such engine, 130 interrupted.
`;

const OPTIONS = {
  help: { type: "boolean", short: "h" },
  json: { type: "boolean" },
  bail: { type: "boolean" },
  engine: { type: "string" },
  settings: { type: "string" },
  case: { type: "string", multiple: true },
  sessions: { type: "string" },
  seed: { type: "string" },
  salt: { type: "string" },
  timeout: { type: "string" },
  replay: { type: "string" },
} as const;

/** What was asked for cannot be done; the message is one sentence. */
class WrongUse extends Error {}

async function main(args: readonly string[]): Promise<number> {
  const tooOld = nodeFault(process.versions.node);
  if (tooOld !== undefined) throw new WrongUse(tooOld);
  const { values, positionals } = parsed(args);
  if (values.help || args.length === 0) {
    (values.help ? process.stdout : process.stderr).write(USAGE);
    return values.help ? 0 : 2;
  }
  const [command, engine, ...more] = positionals;
  if (command !== "check")
    throw new WrongUse(`There is no command ${JSON.stringify(command ?? "")}; there is check.`);
  if (engine === undefined || more.length > 0)
    throw new WrongUse("Name one engine: a module, a plugin's folder or a package.");
  const only = values.case;
  const unknown = only?.find((one) => casesOf({ only: [one] }).length === 0);
  if (unknown !== undefined)
    throw new WrongUse(
      `There is no case or group "${unknown}"; groups: ${CASE_GROUPS.join(", ")}.`,
    );
  const replay = values.replay === undefined ? undefined : await scriptIn(values.replay);
  const settings = values.settings === undefined ? {} : await jsonIn(values.settings);
  const count = wholeOf("sessions", values.sessions);
  const seed = wholeOf("seed", values.seed);
  const cases = replay ? ["sessions/replay"] : casesOf(only ? { only } : {}).map(({ id }) => id);
  return check(
    {
      ...{ engine, folder: process.cwd(), engineId: values.engine, settings },
      ...{ cases, replay },
      callTimeoutMs: 1000 * (wholeOf("timeout", values.timeout) ?? 20),
      sessions: {
        ...(count !== undefined && { count }),
        ...(seed !== undefined && { seed }),
        ...(values.salt !== undefined && { salt: values.salt }),
      },
    },
    { json: values.json === true, bail: values.bail === true },
  );
}

function parsed(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new WrongUse(messageOf(error));
  }
}

function wholeOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new WrongUse(`--${name} takes a whole number from 1, not "${text}".`);
}

async function jsonIn(file: string): Promise<unknown> {
  const text = await readFile(file, "utf8").catch(() => {
    throw new WrongUse(`The file ${file} cannot be read.`);
  });
  try {
    return JSON.parse(text);
  } catch {
    throw new WrongUse(`${file} holds no JSON.`);
  }
}

async function scriptIn(file: string): Promise<Script> {
  const script = await jsonIn(file);
  if (isScript(script)) return script;
  throw new WrongUse(`${file} holds no session; put there what a report has under "session".`);
}

async function check(job: Job, { json, bail }: { json: boolean; bail: boolean }): Promise<number> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => stop.abort(signal));
  const results: CaseResult[] = [];
  const progress = progressOf(job.cases.length);
  const apart: Apart = {
    main: fileURLToPath(import.meta.url),
    signal: stop.signal,
    describe,
    onBegin: (id) => progress.begins(id, results.length),
    onResult(result) {
      results.push(result);
      return bail && result.outcome === "failed";
    },
  };
  const outcome = await runApart(job, apart);
  progress.ends();
  if ("unusable" in outcome) throw new WrongUse(outcome.unusable);
  const count = (kind: CaseResult["outcome"]) =>
    results.filter((result) => result.outcome === kind).length;
  const report: ConformanceReport = {
    ...{ engine: outcome.engine, results },
    ...{ passed: count("passed"), failed: count("failed"), notApplicable: count("not-applicable") },
  };
  const interrupted = stop.signal.aborted ? String(stop.signal.reason) : undefined;
  const text = json
    ? `${JSON.stringify({ ...report, ...(interrupted && { interrupted: true, signal: interrupted }) }, null, 2)}\n`
    : textOf(report, interrupted);
  await new Promise<void>((resolve) => process.stdout.write(text, () => resolve()));
  return interrupted ? 130 : report.failed > 0 ? 1 : 0;
}

function describe(id: string): Pick<CaseResult, "id" | "group" | "title"> {
  const one = CONFORMANCE_CASES.find((each) => each.id === id);
  return { id, group: one?.group ?? "sessions", title: one?.title ?? id };
}

/** One line that changes in a terminal; elsewhere one line for each case. */
function progressOf(total: number) {
  const { isTTY } = process.stderr;
  return {
    begins: (id: string, done: number) =>
      process.stderr.write(
        isTTY ? `\r\u001b[K${done + 1}/${total} ${id}` : `${done + 1}/${total} ${id}\n`,
      ),
    ends: () => isTTY && process.stderr.write("\r\u001b[K"),
  };
}

function textOf(
  { engine, results, ...counts }: ConformanceReport,
  interrupted: string | undefined,
): string {
  const failed = results.filter(({ outcome }) => outcome === "failed");
  const lines = failed.flatMap(({ id, title, reason, session }) => [
    `FAILED ${id}: ${title}`,
    `  ${printable(reason ?? "")}`,
    ...(session ? [`  --replay: ${JSON.stringify(session)}`] : []),
  ]);
  const others = results.filter(({ outcome }) => outcome === "not-applicable");
  for (const [reason, those] of Map.groupBy(others, ({ reason }) => reason ?? ""))
    lines.push(`not applicable: ${those.map(({ id }) => id).join(", ")}`, `  ${printable(reason)}`);
  const { passed, notApplicable } = counts;
  const who = engine === null ? "The engine" : printable(`${engine.name} (${engine.id})`);
  const end = interrupted ? ` Interrupted by ${interrupted}: not all cases were run.` : "";
  lines.push(
    `${who}: ${passed} passed, ${counts.failed} failed, ${notApplicable} not applicable.${end}`,
  );
  return `${lines.join("\n")}\n`;
}

/** What an engine says must not steer a terminal. */
const printable = (text: string) => text.replace(/[\u0000-\u001f\u007f-\u009f]/g, " ");

if (process.argv[2] === "--child" && process.send !== undefined) runAsChild();
else
  main(process.argv.slice(2)).then(
    (code) => {
      process.exitCode = code;
    },
    (error: unknown) => {
      const isUse = error instanceof WrongUse;
      process.stderr.write(
        isUse
          ? `${error.message}\n`
          : `Unexpected: ${error instanceof Error ? error.stack : error}\n`,
      );
      process.exitCode = 2;
    },
  );
