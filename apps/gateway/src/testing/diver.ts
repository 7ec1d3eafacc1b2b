// A plugin for tests that starts sessions of its own, wherever it is told to.
import { join } from "node:path";
import type { PluginSubagents } from "@clew/plugin-sdk/core";
import { onTestFinished } from "vitest";
import { run } from "./obedient-model.ts";
import { writePlugin } from "./plugins.ts";

const code = (id: string) => `
export default { register(api) {
  const { subagent } = api.runtime;
  (globalThis.divers ??= {})["${id}"] = subagent;
  globalThis.duringRegister = subagent.run({ sessionKey: "agent:main:subagent:early", message: "x" })
    .catch((error) => error.message);
  const call = async ({ calls }) => {
    const answers = [];
    for (const [method, params] of calls)
      answers.push(await subagent[method](params).catch((error) => ({ refused: error.message })));
    return answers;
  };
  api.registerTool({
    name: "${id}_dive",
    description: "Calls the subagent runtime.",
    annotations: { readOnlyHint: true },
    parameters: { type: "object", properties: { calls: { type: "array" } } },
    execute: async (_id, params) => ({
      content: [{ type: "text", text: JSON.stringify(await call(params)) }],
    }),
  });
  api.registerCommand({
    name: "${id}",
    description: "The same for people.",
    acceptsArgs: true,
    handler: async ({ args }) => ({ text: JSON.stringify(await call({ calls: JSON.parse(args) })) }),
  });
} };
`;

/** A method of the runtime, and what it is given. */
export type DiverCall = [method: keyof PluginSubagents, params: object];

/** The line that has the model call them in order. */
export const dive = (calls: readonly DiverCall[], id = "diver"): string =>
  run(`${id}_dive`, { calls });

/** Writes it where a home loads it. */
export function writeDiver(home: string, id = "diver"): void {
  const manifest = { contracts: { tools: [`${id}_dive`] } };
  writePlugin(join(home, "plugins", id), { id, manifest, code: code(id) });
  onTestFinished(() => void Object.assign(globalThis, { divers: undefined }));
}

/** The runtime of the plugin as it was loaded last, called outside any request. */
export const diver = (id = "diver"): PluginSubagents =>
  (globalThis as unknown as { divers: Record<string, PluginSubagents> }).divers[id]!;

/** What it was told when it called the runtime while it registered. */
export const toldDuringRegister = (): Promise<string> =>
  (globalThis as unknown as { duringRegister: Promise<string> }).duringRegister;
