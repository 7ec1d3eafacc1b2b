// A host that dies before or after any step of a turn loses no message and repeats none.

import { type ContextEngine, messageId } from "@clew/plugin-sdk/core";
import { createMemoryEngine } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { checkWorld, openWorld, say, type World } from "./__fixtures__/commands.ts";
import {
  currentSession,
  type Disk,
  messageEntries,
  readBranch,
  storeOf,
} from "./__fixtures__/disk.ts";
import type { EngineShape } from "./__fixtures__/engine-shape.ts";
import { turnFaults } from "./__fixtures__/invariants.ts";
import type { TurnPlan } from "./__fixtures__/test-process.ts";

const plain: TurnPlan = { kind: "user", tools: 0, oneByOne: false };
/** Three tools, an overflow, a compaction, the answer. */
const eventful: TurnPlan = {
  ...plain,
  tools: 3,
  failure: { call: 1, kind: "overflow", partial: false },
};

const base: EngineShape = {
  id: "tested",
  takes: "afterTurn",
  bootstraps: "never",
  compacts: "delegates",
  ownsCompaction: false,
  returns: "given",
  inBackground: false,
};

/** An engine, and where its host keeps record of what it acknowledged. */
type Tried = Partial<EngineShape> & { recordsBy?: Disk["recordsBy"]; storesSteps?: boolean };

const engines: [string, Tried][] = [
  ["an eager engine that is given whole turns", {}],
  ["one that is given messages one by one", { takes: "ingest" }],
  ["one that reads the transcript once", { bootstraps: "once" }],
  [
    "an owner that reads it once and returns copies",
    {
      bootstraps: "once",
      ownsCompaction: true,
      compacts: "covers",
      takes: "ingestBatch",
      returns: "copies",
    },
  ],
  ["one that reads it before every run", { bootstraps: "always" }],
  ["one that reads its newest messages before every run", { bootstraps: "newest" }],
  ["one that moves the session to a successor", { compacts: "moves" }],
  [
    "one that does, on a host with a record for each transcript",
    { compacts: "moves", recordsBy: "transcript" },
  ],
  [
    "an owner that moves what it knows of the session",
    { compacts: "moves what it knows", ownsCompaction: true },
  ],
  [
    "an owner that moves the prompt only, with a record for each transcript",
    { compacts: "moves prompts", ownsCompaction: true, recordsBy: "transcript" },
  ],
  ["a durable engine", { takes: "commitTurn" }],
  [
    "a durable owner that moves the session",
    { takes: "commitTurn", ownsCompaction: true, compacts: "moves", recordsBy: "transcript" },
  ],
  ["an eager engine on a host that is one database", { storesSteps: true }],
  [
    "an eager owner that moves the session, on a host that is one database",
    { ownsCompaction: true, compacts: "moves", recordsBy: "transcript", storesSteps: true },
  ],
  ["a durable engine on a host that is one database", { takes: "commitTurn", storesSteps: true }],
];

/** Enough to tell the lifecycles and ways of reading apart. */
const kinds = engines.filter(([name]) =>
  [
    "an eager engine that is given whole turns",
    "one that reads the transcript once",
    "a durable owner that moves the session",
  ].includes(name),
);

const open = ({ recordsBy = "session", storesSteps = false, ...overrides }: Tried) =>
  openWorld({
    engines: [{ ...base, ...overrides }],
    policy: "quarantine",
    window: 100_000,
    recordsBy,
    storesSteps,
  });

/** The store against the transcript, both as ids in order. */
function expectSame({ disk }: World): void {
  const branch = messageEntries(readBranch(disk, currentSession(disk).sessionFile));
  const ids = branch.map(({ message }) => messageId(message));
  const { rows, readAhead } = storeOf(disk, "tested");
  const stored = rows.map(({ id }) => id);
  // A successor keeps the newest turns only.
  const held = stored.filter((id) => ids.includes(id));
  // Who reads the newest by itself is given the older ones after them.
  const inOrder = readAhead.size === 0;
  expect(inOrder ? held : held.toSorted()).toEqual(inOrder ? ids : ids.toSorted());
  expect(new Set(stored).size).toBe(stored.length);
}

async function stepsOf(overrides: Tried): Promise<string[]> {
  const world = open(overrides);
  await say(world, plain);
  await say(world, eventful);
  return world.process.steps();
}

describe("a turn with three tools and a compaction, cut off at any step", () => {
  it.each(engines)("%s holds every message once after a restart", async (_name, overrides) => {
    const steps = await stepsOf(overrides);
    expect(steps.filter((name) => name === "tool")).toHaveLength(3);
    expect(steps.some((name) => name.includes("compact"))).toBe(true);
    const faults: string[] = [];
    for (let at = 0; at <= steps.length; at++) {
      const world = open(overrides);
      await say(world, plain);
      try {
        const cut = await say(world, { ...eventful, mishap: { at, kind: "crash" } });
        checkWorld(world, turnFaults(world.disk, cut));
        checkWorld(world, turnFaults(world.disk, await say(world, plain)));
        expectSame(world);
      } catch (error) {
        faults.push(`killed at step ${at}, ${steps[at] ?? "the end"}: ${(error as Error).message}`);
      }
    }
    expect(faults.slice(0, 3).join("\n")).toBe("");
  });

  it.each(kinds)(
    "%s holds every message once when it is killed in its first turn",
    async (_name, overrides) => {
      const faults: string[] = [];
      const count = (await stepsOf(overrides)).length;
      for (let at = 0; at <= count; at++) {
        const world = open(overrides);
        try {
          await say(world, { ...eventful, mishap: { at, kind: "crash" } });
          checkWorld(world, turnFaults(world.disk, await say(world, plain)));
          expectSame(world);
        } catch (error) {
          faults.push(`killed at step ${at}: ${(error as Error).message}`);
        }
      }
      expect(faults.slice(0, 3).join("\n")).toBe("");
    },
  );

  it.each(kinds)(
    "%s holds every message once when the run is aborted there instead",
    async (_name, overrides) => {
      const faults: string[] = [];
      const count = (await stepsOf(overrides)).length;
      for (let at = 0; at <= count; at++) {
        const world = open(overrides);
        await say(world, plain);
        try {
          const cut = await say(world, { ...eventful, mishap: { at, kind: "abort" } });
          checkWorld(world, turnFaults(world.disk, cut));
          checkWorld(world, turnFaults(world.disk, await say(world, plain)));
          expectSame(world);
        } catch (error) {
          faults.push(`aborted at step ${at}: ${(error as Error).message}`);
        }
      }
      expect(faults.slice(0, 3).join("\n")).toBe("");
    },
  );

  it("the kit's memory engine, which lives on, holds every message once", async () => {
    const steps = await stepsOf({ instead: createMemoryEngine() });
    const faults: string[] = [];
    for (let at = 0; at <= steps.length; at++) {
      const engine = createMemoryEngine();
      const world = open({ instead: engine });
      await say(world, plain);
      await say(world, { ...eventful, mishap: { at, kind: "crash" } });
      await say(world, plain);
      const { remembered, branch } = await readBack(world, engine);
      if (remembered.join() !== branch.join())
        faults.push(`killed at step ${at}, ${steps[at]}: ${remembered} instead of ${branch}`);
    }
    expect(faults.slice(0, 3).join("\n")).toBe("");
  });
});

/** Asked for a view without a history, the memory engine shows all it remembers. */
async function readBack({ disk }: World, engine: ContextEngine) {
  const session = currentSession(disk);
  const { messages } = await engine.assemble({ ...session, messages: [] });
  const branch = messageEntries(readBranch(disk, session.sessionFile));
  return {
    remembered: messages.map(messageId),
    branch: branch.map(({ message }) => messageId(message)),
  };
}
