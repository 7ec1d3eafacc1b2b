// Loads the lossless engine as a gateway does, in a home of its own and without a model.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ContextEngine } from "@clew/plugin-sdk/core";
import { silentLog } from "../../../gateway/src/log/silent.ts";
import { bundledPlugins } from "../../../gateway/src/plugins/find/bundled.ts";
import { loadGeneration } from "../../../gateway/src/plugins/generation.ts";
import { provideStateDir } from "../../../gateway/src/plugins/load/state-dir.ts";
import { createStrays } from "../../../gateway/src/plugins/strays.ts";

type LoadedTools = Awaited<ReturnType<typeof loadGeneration>>["tools"];

/** The engine, what it registered, and where it keeps things. */
export interface BundledEngine {
  readonly engine: ContextEngine;
  readonly tools: LoadedTools;
  /** Absolute; gone when it is closed. */
  readonly home: string;
  close(): Promise<void>;
}

const ENGINE = "lossless";

/** `summaries`: its setting. */
export async function openBundledEngine(summaries: string): Promise<BundledEngine> {
  const home = await mkdtemp(join(tmpdir(), "clew-bundled-"));
  provideStateDir(home);
  const plugins = {
    slots: { contextEngine: ENGINE },
    entries: { [ENGINE]: { enabled: true, config: { summaries } } },
  };
  const { engines, tools } = await loadGeneration({
    ...{ home, plugins, bundled: bundledPlugins(), reservedTools: [] },
    context: {
      ...{ home, mode: "full", generation: 0, log: silentLog, config: () => ({ plugins }) },
      complete: () => Promise.reject(new Error("There is no model here.")),
      strays: createStrays(silentLog),
    },
  });
  const owned = engines.find(({ engineId }) => engineId === ENGINE)!;
  const engine = await owned.factory({ agentDir: home, workspaceDir: home });
  return {
    ...{ engine, tools, home },
    async close() {
      await engine.dispose?.();
      await rm(home, { recursive: true, force: true });
    },
  };
}
