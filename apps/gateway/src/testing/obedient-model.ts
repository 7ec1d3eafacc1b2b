// A model server for tests that does what each message tells it.
import { createOpenAIEmulator, type Emulator, type EmulatorAnswer } from "@clew/providers/testing";
import { onTestFinished } from "vitest";
import { emulatedModel } from "./gateway.ts";

/** What a line of a message has it do; a message without such a line is repeated. */
const CALL = /^RUN (\w+) (\{.*\})$/gm;

/** The line that has the model call a tool. */
export const run = (tool: string, parameters: object): string =>
  `RUN ${tool} ${JSON.stringify(parameters)}`;

/** What it is told to, by the newest message of its request. */
export function obey({ body }: { body: unknown }): EmulatorAnswer {
  const { messages } = body as { messages: { role: string; content: unknown }[] };
  const newest = messages.at(-1)!;
  const said = textIn(newest.content);
  if (newest.role === "tool") return { text: `result: ${said}` };
  const toolCalls = [...said.matchAll(CALL)].map(([, name = "", text = "{}"]) => ({
    name,
    arguments: JSON.parse(text) as Record<string, unknown>,
  }));
  if (toolCalls.length > 0) return { toolCalls };
  if (/^HANG$/m.test(said)) return { text: "never said", chunkChars: 1, pauseMs: 60_000 };
  if (/^FAIL$/m.test(said)) return { fault: "status", status: 400 };
  return { text: `heard: ${said.split("\n").at(-1)}` };
}

function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  return (content as { text?: string }[]).map(({ text = "" }) => text).join("\n");
}

/** The server, and the settings that make it the model of every agent. */
export async function obedientModel(
  subagents: Record<string, unknown> = {},
  answers = obey,
): Promise<{
  server: Emulator;
  config: { agents: { defaults: object } } & Record<string, unknown>;
}> {
  const server = await createOpenAIEmulator({ answers });
  onTestFinished(() => server.close());
  const { models } = emulatedModel(server.baseUrl);
  return {
    server,
    config: { models, agents: { defaults: { model: "emulated/emulated", subagents } } },
  };
}
