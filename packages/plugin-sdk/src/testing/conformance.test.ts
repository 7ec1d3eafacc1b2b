import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { ContextEngine } from "../contract/engine.ts";
import { parseTranscript } from "../transcript/parse.ts";
import { BROKEN_ENGINES } from "./broken/index.ts";
import { CASE_GROUPS } from "./case.ts";
import type { EngineMaker } from "./case-context.ts";
import type { CaseStorage } from "./case-storage.ts";
import { CONFORMANCE_CASES } from "./cases/index.ts";
import { checkEngine, replaySession, runCase, testEngine } from "./conformance.ts";
import { createFullEngine, type EngineStore, emptyStore } from "./full-engine.ts";
import { createMemoryEngine } from "./memory-engine.ts";

/** Transcripts of cases that keep their files in memory. */
const files = new Map<string, string>();
let folders = 0;

/** What engines have stored, by their folders, and how often one was made there. */
const disks = new Map<string, { store: EngineStore; restarts: number }>();

function storageIn(agentDir: string): CaseStorage {
  return {
    agentDir,
    write: async (path, text) => void files.set(path, text),
    read: async (path) => files.get(path),
    copy() {
      const copied = `/in-memory/${folders++}`;
      const disk = disks.get(agentDir);
      if (disk !== undefined) disks.set(copied, structuredClone(disk));
      return storageIn(copied);
    },
    remove: async () => {
      disks.delete(agentDir);
      for (const path of files.keys()) if (path.startsWith(`${agentDir}/`)) files.delete(path);
    },
  };
}

const inMemory = async (): Promise<CaseStorage> => storageIn(`/in-memory/${folders++}`);

const readTranscript = (file: string) =>
  parseTranscript(files.get(file) ?? readFileSync(file, "utf8")).entries.flatMap((entry) =>
    entry.type === "message" ? [entry.message] : [],
  );

type Full = ReturnType<typeof createFullEngine>;
type Shape = (
  full: Full,
  store: EngineStore,
  restarts: number,
  withoutFolder?: boolean,
) => ContextEngine;

/** Makes full engines whose storage belongs to the folder and outlives them. */
function overStorage(shape: Shape = (full) => full): EngineMaker {
  return ({ agentDir, withoutFolder }) => {
    const disk = disks.get(agentDir) ?? { store: emptyStore(), restarts: 0 };
    disks.set(agentDir, disk);
    const engine = createFullEngine(disk.store, readTranscript);
    return shape(engine, disk.store, disk.restarts++, withoutFolder);
  };
}

describe("the list of conformance cases", () => {
  it("has ids of its own, each in its group, and a sentence for whom it is when it is not for all", () => {
    expect(new Set(CONFORMANCE_CASES.map(({ id }) => id)).size).toBe(CONFORMANCE_CASES.length);
    for (const { id, group, when, appliesTo } of CONFORMANCE_CASES) {
      expect(CASE_GROUPS).toContain(group);
      expect(id.startsWith(`${group}/`)).toBe(true);
      expect(when === undefined).toBe(appliesTo === undefined);
    }
    expect(new Set(CONFORMANCE_CASES.map(({ group }) => group)).size).toBe(CASE_GROUPS.length);
  });

  it("has one broken engine for each case", () => {
    expect(Object.keys(BROKEN_ENGINES).sort()).toEqual(
      CONFORMANCE_CASES.map(({ id }) => id).sort(),
    );
  });
});

/** Cases that see what any other case sees. */
const SEES_ALL = ["sessions", "process"];
/** And those of other groups that ask for several things in a row. */
const SEE_MORE = [
  "assemble/own-view",
  "assemble/odd-contents",
  "idempotence/told-again",
  "compact/any-model",
];
/** What is told of a method that hung in a case before. */
const WAS_STUCK = /did not answer in an earlier case/;
const ofGroup = (groups: readonly string[]) =>
  Object.entries(BROKEN_ENGINES).filter(([id]) => groups.includes(id.split("/")[0]!));
const SINGLE = CASE_GROUPS.filter((group) => !SEES_ALL.includes(group));

// They share the processor: a busy machine ends them all late.
const timeout = 600_000;

describe.concurrent.each(ofGroup(SINGLE))("the engine that breaks %s", (id, breakEngine) => {
  it("fails that case, by one sentence, and no case of another group", { timeout }, async () => {
    const options = id === "idempotence/bootstrap-twice" ? {} : { storage: inMemory };
    const { results } = await checkEngine(overStorage(breakEngine), { ...options, only: SINGLE });
    const failed = results.filter(({ outcome }) => outcome === "failed");
    expect(failed.map((result) => result.id)).toContain(id);
    const group = id.split("/")[0]!;
    const others = failed.filter(
      ({ id, group: its, reason }) =>
        its !== group && !SEE_MORE.includes(id) && !WAS_STUCK.test(reason ?? ""),
    );
    expect(others).toEqual([]);
    for (const { reason } of failed) expect(reason).toMatch(/^[^\n]{20,}$/);
  });
});

describe.concurrent.each(ofGroup(["sessions"]))("the engine that breaks %s", (id, breakEngine) => {
  it("fails in a session that is told in a sentence and can be run again", {
    timeout,
  }, async () => {
    const create = overStorage(breakEngine);
    const options = { storage: inMemory };
    const one = CONFORMANCE_CASES.find((each) => each.id === id)!;
    const { outcome, reason, session } = await runCase(one, create, options);
    expect(outcome).toBe("failed");
    expect(reason).toMatch(/^[^\n]{20,}\. Smallest session: [^\n]+\.$/);
    const isLong = ["sessions/long", "sessions/many", "sessions/after-compaction"].includes(id);
    if (!isLong) expect(session!.steps.length).toBeLessThanOrEqual(6);
    const again = JSON.parse(JSON.stringify(session));
    expect(await replaySession(create, again, options)).toMatchObject({ outcome: "failed" });
    expect(await replaySession(overStorage(), again, options)).toEqual({ outcome: "passed" });
  });
});

describe("a session on a host that gives messages no ids", () => {
  it("fails where a compaction takes the newest request away", async () => {
    const turn = { do: "turn", says: "long", tools: [["plain"]], answers: "plain", ends: "told" };
    const session = {
      host: { ids: false, files: false, eager: true },
      steps: [
        ...[turn, turn].map((one) => ({ ...one, heartbeat: false, in: 0 })),
        { do: "compact", by: 0.5, asked: "budget", model: true, bare: false, in: 0 },
      ],
    };
    const create = overStorage(BROKEN_ENGINES["compact/keeps-request"]);
    expect(await replaySession(create, session, { storage: inMemory })).toMatchObject({
      outcome: "failed",
      reason: expect.stringContaining("compact() took the newest request away"),
    });
    expect(await replaySession(overStorage(), session, { storage: inMemory })).toEqual({
      outcome: "passed",
    });
  });
});

describe("a session that holds the salt it failed with", () => {
  it("is run again with the same names and words, each time", async () => {
    const turn = { do: "turn", says: "plain", tools: [], answers: "plain", ends: "told" };
    const session = {
      host: { ids: true, files: true, eager: true },
      steps: [{ ...turn, heartbeat: false, in: 0 }],
    };
    const heard = async (salt: string | undefined) => {
      const told: unknown[] = [];
      const create = overStorage((full) => ({
        ...full,
        assemble(given) {
          told.push(
            given.sessionKey,
            given.messages.map((one) => ("content" in one ? one.content : one.role)),
          );
          return full.assemble(given);
        },
      }));
      const again = { ...session, ...(salt !== undefined && { salt }) };
      expect(await replaySession(create, again, { storage: inMemory })).toEqual({
        outcome: "passed",
      });
      return told;
    };
    const first = await heard("k1x2-1.47");
    expect(await heard("k1x2-1.47")).toEqual(first);
    expect(await heard(undefined)).not.toEqual(first);
  });
});

describe("the engine that breaks process/strays", () => {
  it("fails by what it left behind", async () => {
    const runners = process.listeners("unhandledRejection");
    process.removeAllListeners("unhandledRejection");
    try {
      const create = overStorage(BROKEN_ENGINES["process/strays"]);
      const only = ["process/strays"];
      const { results } = await checkEngine(create, { storage: inMemory, only });
      expect(results).toMatchObject([{ outcome: "failed" }]);
      expect(results[0]!.reason).toMatch(/^2 times; the first time: .* the index is away\.$/);
    } finally {
      for (const one of runners) process.on("unhandledRejection", one);
    }
  });
});

describe("the engine that breaks process/held", () => {
  it("fails by what it holds more from turn to turn", async () => {
    const create = overStorage(BROKEN_ENGINES["process/held"]);
    const only = ["process/held"];
    const { results } = await checkEngine(create, { storage: inMemory, only });
    expect(results[0]!.reason).toMatch(
      /^After 16 more turns it holds 1[5-7] more timers and other handles\.$/,
    );
  });

  it("fails where what it began survives its dispose and keeps the process from ending", async () => {
    const timers: NodeJS.Timeout[] = [];
    const create = () => {
      timers.push(setInterval(() => {}, 60_000));
      return createMemoryEngine();
    };
    const { results } = await checkEngine(create, { only: ["process/held"] });
    for (const timer of timers) clearInterval(timer);
    expect(results[0]!.reason).toBe("It keeps the process from ending after its end, by a timer.");
  });

  it("fails where a file that it opened is still open after its dispose", async () => {
    const opened: number[] = [];
    const create: EngineMaker = ({ agentDir }) => {
      opened.push(openSync(`${agentDir}/log`, "a"));
      return { ...createMemoryEngine(), dispose() {} };
    };
    const { results } = await checkEngine(create, { only: ["process/held"] });
    for (const fd of opened) closeSync(fd);
    const isKnown = existsSync("/proc/self/fd");
    expect(results[0]).toMatchObject(
      isKnown
        ? { reason: "It holds the file log of its folder open after dispose()" }
        : { outcome: "passed" },
    );
  });
});

describe("checkEngine", () => {
  it("passes an engine with every method in every case that is for owners", {
    timeout,
  }, async () => {
    const report = await checkEngine(overStorage());
    expect(report.results.filter(({ outcome }) => outcome === "failed")).toEqual([]);
    expect(
      report.results.filter(({ outcome }) => outcome === "not-applicable").map(({ id }) => id),
    ).toEqual(["compact/delegates", "compact/no-built-in", "compact/deferred"]);
    expect(report).toMatchObject({
      engine: { id: "full", name: "Full engine", version: "1.0.0" },
      failed: 0,
      notApplicable: 3,
    });
    expect(report.passed + report.notApplicable).toBe(CONFORMANCE_CASES.length);
  });

  it("says of an engine that cannot be made why, in every case, and never throws", async () => {
    const report = await checkEngine(() => {
      throw new Error("no database here");
    });
    expect(report).toMatchObject({ engine: null, passed: 0, failed: CONFORMANCE_CASES.length });
    expect(report.results[0]!.reason).toBe("The engine could not be made: no database here");
  });

  it("gives up on a case that does not end", async () => {
    const stuck: ContextEngine = { ...createMemoryEngine(), assemble: () => new Promise(() => {}) };
    const one = CONFORMANCE_CASES.find(({ id }) => id === "assemble/empty-session")!;
    expect(await runCase(one, () => stuck, { callTimeoutMs: 50 })).toMatchObject({
      outcome: "failed",
      reason: "assemble() did not answer within 0.05 s.",
    });
  });

  it("waits once for a method that never answers, and says so in the other cases", async () => {
    const stuck = (): ContextEngine => ({
      ...createMemoryEngine(),
      ingest: () => new Promise(() => {}),
    });
    const { results } = await checkEngine(stuck, { callTimeoutMs: 50 });
    const reasons = results.flatMap(({ reason }) => (reason?.startsWith("ingest()") ? reason : []));
    expect(reasons.filter((reason) => reason.includes("within 0.05 s"))).toHaveLength(1);
    expect(reasons.filter((reason) => reason.includes("an earlier case")).length).toBeGreaterThan(
      5,
    );
  });

  it("says what a method returned that should have returned an object", async () => {
    const nothing = (): ContextEngine => ({
      ...createMemoryEngine(),
      assemble: () => undefined as never,
      ingest: () => null as never,
    });
    const { results } = await checkEngine(nothing);
    const reasons = results.flatMap(({ reason }) => reason ?? []);
    expect(
      reasons.filter((reason) => /Cannot read|is not a function|Unexpected/.test(reason)),
    ).toEqual([]);
    expect(reasons.join()).toContain("assemble() returned undefined; expected an object.");
  });

  it("leaves out what an engine says it does not accept", { timeout }, async () => {
    const seen = new Set<string>();
    const engine = createMemoryEngine();
    const picky: ContextEngine = {
      ...engine,
      info: { ...engine.info, acceptedHostParams: [] },
      assemble(params) {
        for (const key of Object.keys(params)) seen.add(key);
        return engine.assemble(params);
      },
    };
    expect(await checkEngine(() => picky)).toMatchObject({ failed: 0 });
    expect([...seen].sort()).toEqual([
      "availableTools",
      "citationsMode",
      "kitNewerHostParam",
      "messages",
      "model",
      "sessionFile",
      "sessionId",
      "tokenBudget",
    ]);
  });
});

describe("testEngine", () => {
  testEngine({ test: it, create: createMemoryEngine });

  it("gives a case longer than runners do, and skips where the context is a function, as in Vitest", async () => {
    const skipped: unknown[] = [];
    const runs: Promise<void>[] = [];
    const bounds: unknown[] = [];
    const context = Object.assign(() => {}, { skip: (reason: unknown) => skipped.push(reason) });
    testEngine({
      ...{ create: createMemoryEngine, storage: inMemory, only: ["subagents"] },
      test(_name, run, timeoutMs) {
        bounds.push(timeoutMs);
        runs.push(run(context));
      },
    });
    await Promise.all(runs);
    expect(skipped).toHaveLength(runs.length);
    expect(new Set(bounds)).toEqual(new Set([600_000]));
    const mocha = { timeout: (ms: number) => bounds.push(`mocha ${ms}`) };
    testEngine({
      ...{ create: createMemoryEngine, storage: inMemory, only: ["contract/info-valid"] },
      test: (_name, run) => runs.push(run.call(mocha)),
    });
    await Promise.all(runs);
  });

  it("works with any function that takes a name and a test, and skips through the runner's context", async () => {
    const tests = new Map<string, (...args: unknown[]) => Promise<void>>();
    testEngine({
      test: (name, run) => tests.set(name, run),
      create: overStorage(BROKEN_ENGINES["budget/never-above"]),
    });
    expect(tests.size).toBe(CONFORMANCE_CASES.length);
    const named = (id: string) => [...tests].find(([name]) => name.startsWith(`${id}: `))![1];
    await expect(named("budget/never-above")()).rejects.toThrow(
      /^With a budget of \d+ tokens it assembled at least \d+/,
    );
    await named("order/oldest-first")();
    const skipped: unknown[] = [];
    await named("compact/delegates")({ skip: (reason: unknown) => skipped.push(reason) });
    expect(skipped).toEqual(["Only for engines that own no compaction."]);
    expect(named("order/oldest-first").length).toBe(0);
  });
});
