import type { ContextEngine } from "@clew/plugin-sdk/core";
import {
  checkEngine,
  createMemoryEngine,
  type EngineUnderTestContext,
  testEngine,
} from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { memoryLog, passThrough } from "../__fixtures__/host.ts";
import { type EngineGuard, guardEngine } from "./guard.ts";

const clock = { now: () => Date.now(), monotonic: () => performance.now() };

/**
 * The engine as a host calls it: behind the guard, with the host's built-in compaction in reach.
 */
function guarded(engine: ContextEngine, { compaction }: EngineUnderTestContext): ContextEngine {
  const shared = { owner: "plugin:memory", policy: "strict", log: memoryLog(), clock } as const;
  const fallback = async (): Promise<EngineGuard> =>
    guardEngine({ ...shared, engineId: "legacy", engine: passThrough(), fallback });
  const guard = guardEngine({ ...shared, engineId: "memory", engine, fallback });
  return guard.enter({ compaction });
}

describe("the guard keeps the contract of the engine behind it", () => {
  testEngine({ test: it, create: (context) => guarded(createMemoryEngine(), context) });
});

describe("an engine that accepts no host parameters, behind the guard", () => {
  const create = (context: EngineUnderTestContext) => {
    const engine = createMemoryEngine();
    return guarded({ ...engine, info: { ...engine.info, acceptedHostParams: [] } }, context);
  };
  testEngine({ test: it, create });
});

describe("the guard hides no fault", () => {
  it("a broken engine behind it fails the same case", async () => {
    const create = (context: EngineUnderTestContext) =>
      guarded(
        {
          ...createMemoryEngine(),
          compact: () => ({ ok: true, compacted: false, reason: "nothing to do" }),
        },
        context,
      );
    const { results } = await checkEngine(create, { only: ["compact"] });
    expect(results.filter(({ outcome }) => outcome === "failed").map(({ id }) => id)).toEqual([
      "compact/delegates",
    ]);
  });
});
