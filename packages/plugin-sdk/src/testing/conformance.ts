// Runs every conformance case on an engine, as tests of any runner or as a report.
import { within } from "../abort.ts";
import type { ContextEngine, EngineMethod } from "../contract/engine.ts";
import type { CaseGroup, ConformanceCase } from "./case.ts";
import { CaseContext, type EngineMaker } from "./case-context.ts";
import { type CaseStorage, temporaryStorage } from "./case-storage.ts";
import { CONFORMANCE_CASES } from "./cases/index.ts";
import { CaseFailure, describe } from "./engine-call.ts";

/** How the cases are run. */
export interface ConformanceOptions {
  /** Longest time one case may take, ms. Absent: 20,000. */
  caseTimeoutMs?: number;
  /** Makes the folder of one case. Absent: one in the system's temporary folder (Node). */
  storage?: () => Promise<CaseStorage>;
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
   * `test`, `it` or the like of any runner: called once per case, at once,
   * with a name and a function.
   */
  test: (name: string, run: (...args: unknown[]) => Promise<void>) => unknown;
  /** Makes the engine; called at least once per case, with a fresh folder. */
  create: EngineMaker;
}

/**
 * Registers one test per case, named `<id>: <rule>`; a failing one throws one sentence.
 * Where a rule does not apply to the engine, the test is skipped if the runner's context
 * offers `skip`, else it passes.
 */
export function testEngine({ test, create, ...options }: TestEngineOptions): void {
  const silent = new Set<EngineMethod>();
  for (const one of CONFORMANCE_CASES) {
    // No named parameter: some runners read one as a callback to wait for.
    test(`${one.id}: ${one.title}`, async (...args) => {
      const { outcome, reason } = await judge(one, create, options, silent);
      if (outcome === "failed") throw new CaseFailure(reason ?? one.title);
      if (outcome === "not-applicable") skip(args[0], reason);
    });
  }
}

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
  const silent = new Set<EngineMethod>();
  for (const one of CONFORMANCE_CASES) results.push(await judge(one, remembering, options, silent));
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

let runs = 0;

/** One case against one engine, in a folder and sessions of its own. */
export const runCase = (
  one: ConformanceCase,
  create: EngineMaker,
  options: ConformanceOptions = {},
): Promise<CaseResult> => judge(one, create, options, new Set());

/** Methods in `silent` are not waited for again; one that does not answer joins them. */
async function judge(
  one: ConformanceCase,
  create: EngineMaker,
  options: ConformanceOptions,
  silent: Set<EngineMethod>,
): Promise<CaseResult> {
  const { id, group, title } = one;
  const result = (outcome: CaseResult["outcome"], reason?: string) => ({
    id,
    group,
    title,
    outcome,
    ...(reason && { reason }),
  });
  const storage = await (options.storage ?? temporaryStorage)();
  const context = new CaseContext(
    storage,
    create,
    `${id.replace("/", "-")}-${(runs++).toString(36)}`,
    silent,
  );
  const boundMs = options.caseTimeoutMs ?? 20_000;
  const onTimeout = () => {
    const [stuck] = context.calls.waiting;
    if (stuck !== undefined) silent.add(stuck.method);
    const what = stuck === undefined ? "It did not finish" : `${stuck.method}() did not answer`;
    throw new CaseFailure(`${what} within ${boundMs / 1000} s.`);
  };
  try {
    // What comes later is ignored.
    const judged = await within({ boundMs, onTimeout }, async () =>
      context.withCompaction(async () => {
        try {
          context.engine = await context.reopen();
        } catch (error) {
          throw new CaseFailure(`The engine could not be made: ${describe(error)}`);
        }
        if (one.when && !one.when(context.engine)) return "not-applicable" as const;
        await one.run(context);
        return "passed" as const;
      }),
    );
    return judged === "passed"
      ? result("passed")
      : result("not-applicable", `Only for ${one.appliesTo}.`);
  } catch (error) {
    return result(
      "failed",
      error instanceof CaseFailure ? error.message : `Unexpected: ${describe(error)}`,
    );
  } finally {
    const giveUp = () => {
      throw new Error("dispose did not answer");
    };
    await within({ boundMs: 2_000, onTimeout: giveUp }, () => context.close()).catch(() => {});
  }
}

function identityOf({ info }: ContextEngine): ConformanceReport["engine"] {
  if (typeof info?.id !== "string" || typeof info.name !== "string") return null;
  return {
    id: info.id,
    name: info.name,
    ...(info.version !== undefined && { version: info.version }),
  };
}

function skip(context: unknown, reason: string | undefined): void {
  if (typeof context !== "object" || context === null || !("skip" in context)) return;
  if (typeof context.skip === "function") context.skip(reason);
}
