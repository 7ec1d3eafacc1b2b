// What an engine's call costs more when its plugin runs in a process of its own.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createEngineRegistry, type EngineGuard } from "@clew/engine-core";
import { createLegacyEngine } from "@clew/legacy-engine";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { silentLog } from "../../../gateway/src/log/silent.ts";
import { readPluginFiles } from "../../../gateway/src/plugins/find/manifest.ts";
import { loadIsolated } from "../../../gateway/src/plugins/isolate/isolated.ts";
import { type LoadContext, loadPlugin } from "../../../gateway/src/plugins/load/load-plugin.ts";
import { createStrays } from "../../../gateway/src/plugins/strays.ts";
import { type BenchCase, type CaseResult, defineBench } from "../runner/bench.ts";

const MESSAGES = 1_000;
/** In one run; each is given one message more than the one before. */
const CALLS = 50;
const MOST_MS_PER_CALL = 1;

const HERE = "in the host's process";
const THERE = "in a process of its own";

/** Shows the newest half, as engines do that choose. */
const CODE = `export default { id: "bench", register(api) {
  api.registerContextEngine("bench", () => ({
    info: { id: "bench", name: "Bench" },
    ingest: () => ({ ingested: true }),
    assemble: ({ messages }) => ({ messages: messages.slice(messages.length / 2), estimatedTokens: 1 }),
    compact: () => ({ ok: true, compacted: false }),
  }));
} };`;

const log = silentLog;
const clock = { now: () => Date.now(), monotonic: () => performance.now() };

interface Prepared {
  guard: EngineGuard;
  end(): Promise<void>;
}

async function prepareEngine(isIsolated: boolean): Promise<Prepared> {
  const home = await mkdtemp(join(tmpdir(), "clew-bench-"));
  const manifest = { id: "bench", configSchema: { type: "object" } };
  const extensions = ["./index.js"];
  const packageJson = { name: "bench", version: "1.0.0", type: "module", openclaw: { extensions } };
  await writeFile(join(home, "openclaw.plugin.json"), JSON.stringify(manifest));
  await writeFile(join(home, "package.json"), JSON.stringify(packageJson));
  await writeFile(join(home, "index.js"), CODE);
  const files = readPluginFiles(home);
  const context: LoadContext = {
    ...{
      home,
      mode: "full",
      generation: 0,
      log,
      entryConfig: undefined,
      strays: createStrays(log),
    },
    config: () => ({}),
    complete: () => Promise.reject(new Error("not in this bench")),
  };
  const entry = files.entries[0]!;
  const { result, isolated } = isIsolated
    ? await loadIsolated(files, entry, { ...context, onEnded: () => {}, watchdogSeconds: 0 })
    : { result: await loadPlugin(files, entry, context), isolated: undefined };
  if (!result.ok) throw new Error(result.reason);
  const registry = createEngineRegistry({ fallback: () => createLegacyEngine(), log, clock });
  const [{ engineId, factory }] = result.registrations.engines as [
    (typeof result.registrations.engines)[number],
  ];
  registry.register({ engineId, factory, owner: "plugin:bench" });
  return {
    guard: await registry.instance(engineId, {}),
    async end() {
      await registry.dispose();
      await isolated?.end();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** As the host hands them out: frozen, and the same objects each time. */
const message = (index: number): AgentMessage => {
  const text = Object.freeze({ type: "text" as const, text: `Message ${index}. `.repeat(40) });
  const content = Object.freeze([text]) as unknown as [typeof text];
  return Object.freeze({ role: "user", content, timestamp: index });
};

function caseOf(name: string, isIsolated: boolean): BenchCase {
  return {
    name,
    ...(isIsolated && { compareTo: HERE }),
    async prepare() {
      const { guard, end } = await prepareEngine(isIsolated);
      const history = Array.from({ length: MESSAGES }, (_, index) => message(index));
      return {
        async run() {
          const engine = guard.enter({});
          let shown = 0;
          for (let call = 0; call < CALLS; call++) {
            history.shift();
            history.push(message(history.length + call));
            const params = { sessionId: "bench", messages: [...history], tokenBudget: 100_000 };
            shown += (await engine.assemble(params)).messages.length;
          }
          engine.release();
          return shown;
        },
        facts: () => ({ callsPerRun: CALLS, messages: MESSAGES }),
        dispose: end,
      };
    },
  };
}

/** Of the quickest rounds: others of a busy machine measure who else is running. */
function check(results: ReadonlyMap<string, CaseResult>): string[] {
  const msPerCall = (name: string) => results.get(name)!.minMs / CALLS;
  const more = msPerCall(THERE) - msPerCall(HERE);
  if (more <= MOST_MS_PER_CALL) return [];
  return [
    `A call at ${MESSAGES} messages costs ${more.toFixed(2)} ms more in a process of its own; at most ${MOST_MS_PER_CALL} ms.`,
  ];
}

export default defineBench({
  name: "isolated-engine",
  description: `what a call of an engine costs more in a process of its own, at ${MESSAGES} messages`,
  cases: [caseOf(HERE, false), caseOf(THERE, true)],
  check,
});
