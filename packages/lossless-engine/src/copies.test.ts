// The package where a host loads a copy of it for each of its registrations.
import type {
  ContextEngine,
  PluginApi,
  PluginEntry,
  PluginTool,
  PluginToolFactory,
} from "@clew/plugin-sdk/core";
import { user } from "@clew/plugin-sdk/testing";
import { expect, it, vi } from "vitest";
import { temporaryFolder } from "./testing/temporary-folder.ts";

const session = { sessionId: "s1", sessionKey: "agent:main:copies" };

/** A copy that was loaded for itself, as the host registers it. */
async function copy(runtime?: object) {
  vi.resetModules();
  const { default: plugin } = (await import("./plugin.ts")) as { default: PluginEntry };
  const tools: PluginToolFactory[] = [];
  let create: (given: object) => unknown = () => undefined;
  plugin.register({
    ...{ pluginConfig: undefined, runtime, resolvePath: (path: string) => path },
    logger: console,
    registerContextEngine: (_id: string, factory: typeof create) => {
      create = factory;
    },
    registerTool: (factory: PluginToolFactory) => tools.push(factory),
    registerCommand: () => {},
  } as unknown as PluginApi);
  return { tools, engine: async (given: object) => (await create(given)) as ContextEngine };
}

async function found(runtime?: object): Promise<string> {
  const { engine } = await copy(runtime);
  const { tools } = await copy(runtime);
  const { ingest, dispose } = bound(await engine({ agentDir: temporaryFolder() }));
  await ingest!({ ...session, message: user("The harbour is called Elbe-7719") } as never);
  await dispose?.();
  const tool = [tools[0]!(session)].flat()[0] as PluginTool;
  const { content } = await tool.execute("call", { pattern: "Elbe-7719" });
  return content.map(({ text }) => text).join("");
}

const bound = (engine: ContextEngine) => ({
  ingest: engine.ingest?.bind(engine),
  dispose: engine.dispose?.bind(engine),
});

it("tools of one copy find what the engine of another one stored", async () => {
  expect(await found()).toMatch(/^1 found.*The harbour is called Elbe-7719/s);
});

it("in Clew, which loads what was changed anew, copies know nothing of each other", async () => {
  expect(await found({ clew: { version: "1" } })).toMatch(/^Nothing of this session is stored/);
});
