// A memory that never answers holds up nothing beyond its bound.
import type { MemoryCapability } from "@clew/plugin-sdk/core";
import { expect, it } from "vitest";
import { abilitiesOf, learnAbilities } from "./abilities.ts";
import { closeMemory } from "./close-memory.ts";
import { memoryTools } from "./memory-tools.ts";
import { prepareSection } from "./section.ts";

const never = () => new Promise<never>(() => {});
const warned: string[] = [];
const log = { info() {}, error() {}, warn: (line: string) => void warned.push(line) };
const runAs = <Result>(_id: string, work: () => Result) => work();
const session = { agentId: "main", sessionId: "s", sessionKey: "agent:main:main" };
const memoryOf = (capability: MemoryCapability) => ({ pluginId: "mem", capability });
const params = { availableTools: new Set<string>() };

it("a section that never comes is left out, and those of others stand", async () => {
  const memory = {
    chosen: memoryOf({ promptBuilder: never }),
    supplements: [{ pluginId: "b", builder: async () => ["from b"] }],
  };
  expect(await prepareSection(memory, params, { runAs, limitBytes: 1_000, boundMs: 30 })).toEqual({
    lines: ["from b"],
    problems: [{ plugin: "mem", reason: "it was not there within 0.03 s" }],
  });
});

it("an abort ends the wait for a section", async () => {
  const memory = { chosen: memoryOf({ promptBuilder: never }), supplements: [] };
  const signal = AbortSignal.abort(new Error("stop"));
  const made = prepareSection(memory, params, { runAs, limitBytes: 1_000, signal });
  await expect(made).rejects.toThrow("stop");
});

it.each([
  ["search", { query: "boat" }, { search: never }],
  ["get", { path: "a" }, { readFile: never }],
] as const)("memory_%s says that the memory did not answer", async (_, given, manager) => {
  const memory = memoryOf({ runtime: { getMemorySearchManager: async () => ({ manager }) } });
  const tools = memoryTools({
    ...{ memory, runAs, log, cfg: {}, cites: true, boundMs: 30 },
    agentId: "main",
  });
  const tool = tools.find(({ name }) => name === `memory_${_}`)!;
  const { signal } = new AbortController();
  const context = { session, signal, callId: "c1", prepared: undefined };
  await expect(tool.run(given, context)).rejects.toThrow(
    'The memory of plugin "mem" did not answer within 0.03 s.',
  );
});

it("what it can do is waited for once, and until it answers it is thought able", async () => {
  let calls = 0;
  const getMemorySearchManager = () => {
    calls++;
    return never();
  };
  const memory = memoryOf({ runtime: { getMemorySearchManager } });
  const request = { memory, session, runAs, log, cfg: {}, boundMs: 30 };
  await learnAbilities(request);
  await learnAbilities({ ...request, boundMs: 600_000 });
  expect(calls).toBe(1);
  expect(abilitiesOf(memory, "main")).toEqual({ search: true, get: true });
});

it("closing a memory ends, and what it does wrong is logged", async () => {
  const closeAllMemorySearchManagers = () => {
    throw new Error("stuck");
  };
  const runtime = { getMemorySearchManager: never, closeAllMemorySearchManagers };
  await closeMemory({ chosen: memoryOf({ runtime }), supplements: [] }, { runAs, log });
  expect(warned).toEqual(["[plugins] mem: its memory could not be closed: stuck"]);
});
