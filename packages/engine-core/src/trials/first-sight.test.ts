// An engine that failed to read the past at first sight reads it before it is given newer turns.
import { describe, expect, it } from "vitest";
import { checkWorld, openWorld, restart, say } from "./__fixtures__/commands.ts";
import {
  currentSession,
  eventOf,
  messageEntries,
  readBranch,
  storeOf,
} from "./__fixtures__/disk.ts";
import type { EngineShape } from "./__fixtures__/engine-shape.ts";
import type { TurnPlan } from "./__fixtures__/test-process.ts";

/** The step of a turn at which a new engine first reads; before it, that is written down. */
const firstLook = (takes: EngineShape["takes"]) => (takes === "commitTurn" ? 0 : 2);

const plain: TurnPlan = { kind: "user", tools: 0, oneByOne: false };

describe.each(["commitTurn", "afterTurn"] as const)("an engine told by %s", (takes) => {
  const engine: EngineShape = {
    id: "late",
    takes,
    bootstraps: "once",
    compacts: "covers",
    ownsCompaction: true,
    returns: "given",
    inBackground: false,
  };

  it("is given nothing newer until it could read what was there", async () => {
    const setup = { engines: [engine], policy: "quarantine" as const, window: 100_000 };
    const trial = openWorld(setup);
    trial.process.use("legacy");
    await say(trial, plain);
    trial.process.use("late");
    await say(trial, plain);
    const at = trial.process.steps().indexOf("engine late bootstrap");
    expect(at).not.toBe(-1);

    const world = openWorld(setup);
    world.process.use("legacy");
    await say(world, plain);
    world.process.use("late");
    await say(world, { ...plain, mishap: { at, kind: "break" } });
    await say(world, plain);
    restart(world, "late");
    await say(world, plain);
    checkWorld(world);
    const branch = messageEntries(readBranch(world.disk, currentSession(world.disk).sessionFile));
    expect(storeOf(world.disk, "late").rows.map(({ event }) => event)).toEqual(
      branch.map(({ message }) => eventOf(message)),
    );
  });

  it("is given what was said after a first look that was cancelled", async () => {
    const world = openWorld({
      engines: [engine],
      policy: "quarantine",
      window: 100_000,
      first: "legacy",
    });
    await say(world, plain);
    world.process.use("late");
    const at = firstLook(takes);
    await say(world, { ...plain, mishap: { at, kind: "abort" } });
    expect(world.process.steps()).toContain("engine late bootstrap:done");
    await say(world, plain);
    checkWorld(world);
    const branch = messageEntries(readBranch(world.disk, currentSession(world.disk).sessionFile));
    expect(storeOf(world.disk, "late").rows.map(({ event }) => event)).toEqual(
      branch.map(({ message }) => eventOf(message)),
    );
  });

  it.runIf(takes === "afterTurn").each(["abort", "crash"] as const)(
    "is given what was said after a first look that was cut short (%s), also by the next process",
    async (kind) => {
      const world = openWorld({
        engines: [engine],
        policy: "quarantine",
        window: 100_000,
        first: "legacy",
      });
      await say(world, plain);
      world.process.use("late");
      // It has looked, and nobody heard of it.
      await say(world, { ...plain, mishap: { at: firstLook(takes) + 1, kind } });
      expect(world.process.steps().at(-1)).not.toBe("engine late bootstrap");
      restart(world, "legacy");
      await say(world, plain);
      restart(world, "late");
      await say(world, plain);
      checkWorld(world);
      const branch = messageEntries(readBranch(world.disk, currentSession(world.disk).sessionFile));
      expect(storeOf(world.disk, "late").rows.map(({ event }) => event)).toEqual(
        branch.map(({ message }) => eventOf(message)),
      );
    },
  );

  it("is told of the past where there is no file to read it from", async () => {
    const world = openWorld({
      ...{ engines: [engine], policy: "quarantine", window: 100_000 },
      ...{ first: "legacy", tellsFiles: false },
    });
    await say(world, plain);
    world.process.use("late");
    await say(world, plain);
    checkWorld(world);
    const branch = messageEntries(readBranch(world.disk, currentSession(world.disk).sessionFile));
    expect(storeOf(world.disk, "late").rows.map(({ event }) => event)).toEqual(
      branch.map(({ message }) => eventOf(message)),
    );
  });
});
