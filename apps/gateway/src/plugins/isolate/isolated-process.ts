// The process in which one plugin runs by itself.
import { AsyncLocalStorage } from "node:async_hooks";
import { mkdirSync } from "node:fs";
import { Socket } from "node:net";
import type { LogPort } from "@clew/engine-core";
import type { LlmCompleteResult } from "@clew/plugin-sdk/core";
import {
  type MemoryPromptSlot,
  type PreparedMemoryPrompt,
  provideMemoryPromptSlot,
  provideRuntimeCompaction,
  type RuntimeCompaction,
} from "@clew/plugin-sdk/host";
import { RefusedAct } from "../contain/guard-process.ts";
import { loadPlugin } from "../load/load-plugin.ts";
import { asPlugin } from "../load/running.ts";
import { catchStrayErrors, describeThrown } from "../stray-errors.ts";
import type { Strays } from "../strays.ts";
import { dieWithParent } from "./die-with-parent.ts";
import { guardGateway } from "./guard-gateway.ts";
import { type Loaded, offerOf, servePlugin } from "./isolated-plugin.ts";
import { type IsolatedOrder, usedBeyond } from "./order.ts";
import { createPeer, type Verbs } from "./peer.ts";

const CHANNEL = 3;

// Whoever started it ends it, also where a terminal or a supervisor tells all processes at once.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
const gatewayPid = process.ppid;
dieWithParent(gatewayPid);

const log: LogPort = {
  info: (message) => peer.tell("log", "info", message),
  warn: (message) => peer.tell("log", "warn", message),
  error: (message) => peer.tell("log", "error", message),
};
const strays: Strays = {
  of: () => undefined,
  note(_pluginId, message, kind) {
    peer.tell("stray", message, kind);
    return false;
  },
};
catchStrayErrors((error) => {
  process.stderr.write(`clew: the process of a plugin ended: ${describeThrown(error)}\n`);
  process.exit(1);
});

const compactions = new AsyncLocalStorage<RuntimeCompaction | undefined>();
const memories = new AsyncLocalStorage<PreparedMemoryPrompt | undefined>();
provideRuntimeCompaction(compactions);
provideMemoryPromptSlot({
  getStore: () => memories.getStore(),
  prepare: (params) => peer.call("memory", params) as Promise<string[]>,
} satisfies MemoryPromptSlot);

let loaded: Loaded | undefined;
const verbs: Verbs = {
  async load(order: IsolatedOrder) {
    const plugin = await load(order);
    loaded = plugin;
    return offerOf(plugin);
  },
  ping: () => "pong",
  ...servePlugin({
    loaded: () => loaded!,
    run: ({ compaction, memory }, work) =>
      compactions.run(compaction as RuntimeCompaction | undefined, () =>
        memories.run(memory as PreparedMemoryPrompt | undefined, () =>
          asPlugin({ pluginId: loaded!.order.entry.pluginId, strays }, work),
        ),
      ),
  }),
};
const peer = createPeer({
  stream: new Socket({ fd: CHANNEL, readable: true, writable: true }),
  role: "plugin",
  verbs,
  onEnd: () => process.exit(0),
});

/** Throws one sentence that says why nothing of the plugin is used. */
async function load(order: IsolatedOrder): Promise<Loaded> {
  const { files, entry, home, mode, config, entryConfig, listedFor } = order;
  guardGateway(gatewayPid, (asked, why) => {
    const message = `${asked} ${why}; it was refused`;
    strays.note(entry.pluginId, message, "refused");
    return new RefusedAct(`Plugin "${entry.pluginId}": ${message}.`);
  });
  const result = await loadPlugin(files, entry, {
    ...{ home, mode, generation: 0, log, entryConfig, strays },
    config: () => config,
    complete: (_pluginId, params) => peer.call("complete", params) as Promise<LlmCompleteResult>,
  });
  if (!result.ok) throw new Error(result.reason);
  // As they are when a session's tools are made in the gateway's process.
  if (mode === "full")
    for (const { agentDir } of listedFor)
      if (agentDir !== undefined) mkdirSync(agentDir, { recursive: true, mode: 0o700 });
  const beyond = usedBeyond(result.registrations);
  if (beyond.length > 0)
    throw new Error(
      `Plugin "${entry.pluginId}" uses ${beyond.join(", ")}, which a plugin in a process of its own does not have; to run it in the gateway's: clew config unset plugins.entries.${entry.pluginId}.isolation`,
    );
  return { order, registrations: result.registrations, engines: new Map() };
}
