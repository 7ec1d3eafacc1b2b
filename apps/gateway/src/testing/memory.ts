// Gateways with a memory plugin, and a model that stores when it is asked to.
import { join } from "node:path";
import { createOpenAIEmulator, type EmulatorAnswer } from "@clew/providers/testing";
import { onTestFinished } from "vitest";
import { emulatedModel } from "./gateway.ts";
import { obey } from "./obedient-model.ts";

export const NOTES_MEMORY = join(import.meta.dirname, "../../../examples/notes-memory");

/** Settings that choose the example, whose tool may store unasked. */
export const notesPlugins = (slots: Record<string, string> = {}) => ({
  load: { paths: [NOTES_MEMORY] },
  slots: { memory: "notes-memory", ...slots },
  entries: { "notes-memory": { tools: { allow: ["memory_write"] } } },
});

interface Body {
  messages: { role: string; content: unknown }[];
  tools?: { function: { name: string } }[];
}

export const bodyOf = ({ body }: { body: unknown }): Body => body as Body;

/** True of a request that a memory flush sends. */
export const isFlush = (request: { body: unknown }): boolean =>
  bodyOf(request).messages.some(
    ({ role, content }) => role === "user" && JSON.stringify(content).includes("NO_REPLY"),
  );

export const systemText = (request: { body: unknown }): string =>
  JSON.stringify(bodyOf(request).messages.filter(({ role }) => role === "system"));

/** Stores one line in a flush, and else does what it is told. */
export function storing(request: { body: unknown }): EmulatorAnswer {
  if (!isFlush(request)) return obey(request);
  const newest = bodyOf(request).messages.at(-1)!;
  if (newest.role === "tool") return { text: "NO_REPLY" };
  return { toolCalls: [{ name: "write_file", arguments: { content: "- stored by a flush" } }] };
}

/** The model of every agent, and what it was asked. */
export async function memoryModel({
  answers = storing,
  contextWindow = 100_000,
}: {
  answers?: (request: { body: unknown }, index: number) => EmulatorAnswer;
  contextWindow?: number;
} = {}) {
  const server = await createOpenAIEmulator({ answers });
  onTestFinished(() => server.close());
  return {
    server,
    config: emulatedModel(server.baseUrl, { contextWindow }),
    flushes: () =>
      server.requests.filter(
        (request) => isFlush(request) && bodyOf(request).messages.at(-1)?.role === "user",
      ),
  };
}
