// What the rules of the Chat Completions wire read of a body.
import { type At, type JsonObject, objects, record, text } from "../../server/json.ts";
import type { WireRule } from "../../server/wire.ts";

/** Whose strictness a rule belongs to; a rule without flavors is everybody's. */
export type ChatRuleFlavor = (typeof CHAT_RULE_FLAVORS)[number];

/** All of them. */
export const CHAT_RULE_FLAVORS = [
  "openai",
  "groq",
  "deepseek",
  "kimi",
  "template",
  "proxy",
  "openrouter",
  "minimax",
  "gemini",
  "vllm",
  "compatible",
] as const;

export type ChatRule = WireRule<JsonObject>;

export const messages = (body: JsonObject) => objects(body.messages, "messages");

/** Every content part of every message. */
export function parts(body: JsonObject): (At & { role: string })[] {
  return messages(body).flatMap(({ value, path }) =>
    objects(value.content, `${path}.content`).map((part) => ({ ...part, role: text(value.role) })),
  );
}

/** Every tool call of every assistant message. */
export function toolCalls(body: JsonObject): At[] {
  return messages(body).flatMap(({ value, path }) =>
    objects(value.tool_calls, `${path}.tool_calls`),
  );
}

export const functionOf = ({ value }: At): JsonObject => record(value.function);
