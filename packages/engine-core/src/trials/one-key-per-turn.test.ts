// A durable engine's turn has one key for good: through crashes, rewrites and moves of the session.
import { describe, expect, it } from "vitest";
import { checkWorld, openWorld, restart, say, type World } from "./__fixtures__/commands.ts";
import { storeOf } from "./__fixtures__/disk.ts";
import type { EngineShape } from "./__fixtures__/engine-shape.ts";
import type { Mishap, TurnPlan } from "./__fixtures__/test-process.ts";

const plain: TurnPlan = { kind: "user", tools: 1, oneByOne: false };
const base = { returns: "given", inBackground: false } as const;
const durable: EngineShape = {
  ...base,
  id: "durable",
  takes: "commitTurn",
  bootstraps: "never",
  compacts: "moves",
  ownsCompaction: true,
};
const rewriting: EngineShape = {
  ...base,
  id: "rewriting",
  takes: "afterTurn",
  bootstraps: "never",
  compacts: "moves",
  ownsCompaction: false,
};

const open = (recordsBy: "session" | "transcript", compacts = durable.compacts) =>
  openWorld({
    engines: [{ ...durable, compacts }, rewriting],
    policy: "retry-next-turn",
    window: 100_000,
    recordsBy,
  });

/** At which step of a second turn the engine's commit returns. */
async function stepOfReturn(): Promise<number> {
  const world = open("session");
  await say(world, plain);
  await say(world, plain);
  return world.process.steps().lastIndexOf("engine durable commitTurn:done");
}
const returns = stepOfReturn();

/** A turn that the engine commits, while the host does not learn of it. */
async function sayUnheard(world: World, kind: Mishap["kind"]): Promise<void> {
  const at = await returns;
  expect(at).toBeGreaterThan(0);
  await say(world, plain);
  await say(world, { ...plain, mishap: { at, kind } });
}

const between: [string, (world: World) => Promise<void>][] = [
  ["nothing", async () => {}],
  ["a restart", async (world) => restart(world, "durable")],
  [
    "a rewrite under another engine",
    async (world) => {
      world.process.use("rewriting");
      await say(world, { ...plain, wish: { fromEnd: 5, isBare: false } });
      world.process.use("durable");
    },
  ],
  ["a move to another transcript", async (world) => void (await world.process.compact({}))],
  [
    "a move by another engine",
    async (world) => {
      world.process.use("rewriting");
      await world.process.compact({});
      world.process.use("durable");
    },
  ],
];

describe.each([["crash" as const], ["slip" as const], ["break" as const], ["abort" as const]])(
  "a commit that the host did not hear of, because of: %s",
  (kind) => {
    describe.each([["session" as const], ["transcript" as const]])("records by %s", (recordsBy) => {
      it.each(between)("comes again under its own key after %s", async (_name, happens) => {
        const world = open(recordsBy);
        await sayUnheard(world, kind);
        await happens(world);
        await say(world, plain);
        await say(world, plain);
        checkWorld(world);
        const { keys } = storeOf(world.disk, "durable");
        expect(new Set([...keys.values()].map((ids) => ids.split(",")[0])).size).toBe(keys.size);
      });
    });
  },
);

describe.each([["session" as const], ["transcript" as const]])(
  "a turn whose commit the host did not hear of, records by %s",
  (recordsBy) => {
    it("is committed as it was before its engine moves the session with a part of it", async () => {
      const world = open(recordsBy, "moves prompts");
      await sayUnheard(world, "crash");
      await world.process.compact({});
      await say(world, plain);
      checkWorld(world);
    });
  },
);

describe("a turn that was committed, and of which a successor holds a part", () => {
  it.each([["session" as const], ["transcript" as const]])(
    "is not committed again for the summary before it, records by %s",
    async (recordsBy) => {
      const world = openWorld({
        engines: [{ ...durable, compacts: "moves prompts" }],
        policy: "quarantine",
        window: 100_000,
        recordsBy,
      });
      await say(world, plain);
      await say(world, plain);
      await world.process.compact({});
      await say(world, plain);
      checkWorld(world);
      expect(world.process.steps().filter((name) => name.endsWith(" commitTurn"))).toHaveLength(1);
      expect(storeOf(world.disk, "durable").keys.size).toBe(3);
    },
  );
});
