// Runs every conformance case on an engine, as tests of any runner or as a report.
import type { ContextEngine, EngineMethod } from "../contract/engine.ts";
import { type CaseGroup, type ConformanceCase, NotApplicable } from "./case.ts";
import { CaseContext, type EngineMaker, type SessionOptions } from "./case-context.ts";
import { type CaseStorage, temporaryStorage } from "./case-storage.ts";
import { CONFORMANCE_CASES } from "./cases/index.ts";
import { CaseFailure, describe } from "./engine-call.ts";
import { replay, SessionFailure } from "./sessions/explore.ts";
import { newBase, saltOf, wordOf } from "./sessions/marks.ts";
import type { Script, SessionScript } from "./sessions/script.ts";
import { blameForAll, collectStrays, type Strays } from "./strays.ts";

/** How the cases are run. */
export interface ConformanceOptions {
  /**
   * Longest time one call of the engine may take, ms; time in which a busy machine lets it do only
   * little does not count. Absent: 20,000.
   */
  callTimeoutMs?: number;
  /** Makes the folder of one case. Absent: one in the system's temporary folder (Node). */
  storage?: () => Promise<CaseStorage>;
  /** How many random sessions are tried, and which. Absent: the usual ones. */
  sessions?: SessionOptions;
  /** Ids of cases, or names of groups: no other is run. Absent: all are. */
  only?: readonly string[];
  /** Whether nothing but the engine runs in this process. Absent: something else may. */
  ownsProcess?: boolean;
  /** Told of each result as it comes. Absent: nobody is. */
  onResult?: (result: CaseResult) => void;
}

/** How one case came out. */
export interface CaseResult {
  /** `<group>/<name>`; never changes once published. */
  id: string;
  /** What it is about. */
  group: CaseGroup;
  /** The rule, as a sentence about the engine. */
  title: string;
  /** "not applicable": the case is for engines of another kind. */
  outcome: "passed" | "failed" | "not-applicable";
  /** One sentence: what the engine did wrong, or whom the case is for. Absent: it passed. */
  reason?: string;
  /** The smallest session that failed, to be run again by `replaySession`. Absent: another case. */
  session?: SessionScript;
}

/** How an engine did in all cases. */
export interface ConformanceReport {
  /** Who the engine says it is; null when it could not be made or does not say. */
  engine: {
    id: string;
    name: string;
    /** Absent: it names none. */
    version?: string;
  } | null;
  /** In the order of the list of cases. */
  results: CaseResult[];
  /** Number of results of that outcome. */
  passed: number;
  /** Number of results of that outcome; 0 = the engine keeps the contract. */
  failed: number;
  /** Number of results of that outcome. */
  notApplicable: number;
}

/** Which engine to test, and with which runner. */
export interface TestEngineOptions extends ConformanceOptions {
  /**
   * `test`, `it` or the like of any runner: called once per case, at once, with a name, a function,
   * and how long that may take, ms, where the runner has a bound of its own.
   */
  test: (name: string, run: (...args: unknown[]) => Promise<void>, timeoutMs?: number) => unknown;
  /** Makes the engine; called at least once per case, with a fresh folder. */
  create: EngineMaker;
}

/**
 * Registers one test per case, named `<id>: <rule>`; a failing one throws one sentence.
 * Where a rule does not apply to the engine, the test is skipped if the runner's context
 * offers `skip`, else it passes.
 */
export function testEngine({ test, create, ...options }: TestEngineOptions): void {
  const judge = startJudging(create, options);
  for (const one of casesOf(options)) {
    const name = `${one.id}: ${one.title}`;
    // No named parameter: some runners read one as a callback to wait for.
    const run = async function (this: unknown, ...args: unknown[]) {
      hasTimeout(this) && this.timeout(CASE_MS);
      const { outcome, reason } = await judge(one);
      if (outcome === "failed") throw new CaseFailure(reason ?? one.title);
      if (outcome === "not-applicable") skip(args[0] ?? this, reason);
    };
    // Deno takes no third argument, and has no bound.
    if ("Deno" in globalThis) test(name, run);
    else test(name, run, CASE_MS);
  }
}

/** Longest time for a case, ms: what hangs, the kit tells itself, long before. */
const CASE_MS = 600_000;

/** Mocha takes a bound in the test itself. */
const hasTimeout = (runner: unknown): runner is { timeout(ms: number): void } =>
  typeof (runner as { timeout?: unknown } | undefined)?.timeout === "function";

/**
 * Runs every case, one after the other, and never throws for what the engine does.
 * @example
 * ```ts
 * import { checkEngine, createMemoryEngine } from "@clew/plugin-sdk/testing";
 *
 * const { engine, results } = await checkEngine(createMemoryEngine);
 * console.log(engine?.name, results.filter(({ outcome }) => outcome === "failed"));
 * ```
 *
 * ```text
 * Memory engine []
 * ```
 */
export async function checkEngine(
  create: EngineMaker,
  options: ConformanceOptions = {},
): Promise<ConformanceReport> {
  const results: CaseResult[] = [];
  let engine: ConformanceReport["engine"] = null;
  const remembering: EngineMaker = async (context) => {
    const made = await create(context);
    engine ??= identityOf(made);
    return made;
  };
  const judge = startJudging(remembering, options);
  for (const one of casesOf(options)) {
    const result = await judge(one);
    results.push(result);
    options.onResult?.(result);
  }
  const count = (outcome: CaseResult["outcome"]) =>
    results.filter((result) => result.outcome === outcome).length;
  return {
    engine,
    results,
    passed: count("passed"),
    failed: count("failed"),
    notApplicable: count("not-applicable"),
  };
}

/** The cases that are asked for, in the order in which they are reported. */
export const casesOf = ({ only }: Pick<ConformanceOptions, "only">): readonly ConformanceCase[] =>
  CONFORMANCE_CASES.filter(
    ({ id, group }) => only === undefined || only.includes(id) || only.includes(group),
  );

/**
 * Runs one session again that a case reported, or one that was written by hand; with the names and
 * words that it failed with, where it holds their salt and `options` give no other.
 */
export async function replaySession(
  create: EngineMaker,
  session: SessionScript,
  options: ConformanceOptions = {},
): Promise<Pick<CaseResult, "outcome" | "reason" | "session">> {
  const { salt } = session as Script;
  const sessions = { ...(salt !== undefined && { salt }), ...options.sessions };
  const {
    outcome,
    reason,
    session: failed,
  } = await runCase(
    {
      ...{
        id: "sessions/replay",
        group: "sessions",
        title: "a session that is run again",
        rule: "",
      },
      run: (context) => replay(context, session as Script),
    },
    create,
    { ...options, sessions },
  );
  return { outcome, ...(reason && { reason }), ...(failed && { session: failed }) };
}

/** One case against one engine, in a folder and sessions of its own. */
export const runCase = (
  one: ConformanceCase,
  create: EngineMaker,
  options: ConformanceOptions = {},
): Promise<CaseResult> => startJudging(create, options)(one);

/** Longest wait for one call, ms. */
const CALL_MS = 20_000;

/** Runs cases on one engine; a method that does not answer in one is not waited for in the next. */
export function startJudging(
  create: EngineMaker,
  options: ConformanceOptions = {},
): (one: ConformanceCase) => Promise<CaseResult> {
  const calls = { boundMs: options.callTimeoutMs ?? CALL_MS, silent: new Set<EngineMethod>() };
  const strays: Strays = [];
  if (options.ownsProcess) blameForAll(strays);
  const known = new Set<string>();
  // An engine may keep what it was told by another process, or in another check.
  const { salt: given, seed = 1 } = options.sessions ?? {};
  const salt = { base: given === undefined ? `${newBase()}-${seed}` : saltOf(given).base, run: 0 };
  const run = wordOf(salt.base);
  let cases = 0;
  const makeStorage = options.storage ?? temporaryStorage;
  return async ({ id, group, title, ...one }) => {
    const context = new CaseContext(await makeStorage(), {
      ...{ makeStorage, create, calls, strays, salt, sessions: options.sessions },
      ownsProcess: options.ownsProcess,
      prefix: `${id.replace("/", "-")}-${run}-${(cases++).toString(36)}`,
    });
    const result = { id, group, title };
    try {
      await collectStrays(strays, () =>
        context.withCompaction(async () => {
          context.engine = await context.reopen();
          if (one.when && !one.when(context.engine)) throw new NotApplicable(one.appliesTo!);
          await one.run(context);
        }),
      );
      // Each once: whoever leaves one leaves it in nearly every case.
      const left = strays.find((stray) => !known.has(stray));
      if (left !== undefined) throw new CaseFailure(`Meanwhile ${left}.`);
      return { ...result, outcome: "passed" };
    } catch (error) {
      if (error instanceof NotApplicable)
        return { ...result, outcome: "not-applicable", reason: error.message };
      const isKnown = error instanceof CaseFailure;
      const reason = isKnown ? error.message : `Unexpected: ${describe(error)}`;
      const session = error instanceof SessionFailure ? { session: error.script } : {};
      return { ...result, outcome: "failed", reason, ...session };
    } finally {
      for (const stray of strays) known.add(stray);
      await context.close();
    }
  };
}

function identityOf({ info }: ContextEngine): ConformanceReport["engine"] {
  if (typeof info?.id !== "string" || typeof info.name !== "string") return null;
  return {
    id: info.id,
    name: info.name,
    ...(info.version !== undefined && { version: info.version }),
  };
}

/** The context is an object in some runners, and a function in Vitest. */
function skip(context: unknown, reason: string | undefined): void {
  const runner = context as { skip?: unknown } | null | undefined;
  if (typeof runner?.skip === "function") runner.skip(reason);
}
