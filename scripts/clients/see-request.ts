// Reads of a request what a model on that wire would go by.
import type { DoorApi } from "../../apps/gateway/src/door/wires/door-wire.ts";

export interface Seen {
  /** The list of messages, as it came. */
  messages: readonly object[];
  /** All of it, in one text. */
  text: string;
  /** Names of the functions that may be called; those of groups as well. */
  tools: ReadonlySet<string>;
  /** What a person says at the end; null: the last message is another's. */
  lastWords: string | null;
  /** Absent: words may be answered. */
  schema?: Schema;
}

export interface Schema {
  type?: string;
  enum?: readonly string[];
  properties?: Readonly<Record<string, Schema>>;
}

type Json = Record<string, unknown>;

export const LISTS: Readonly<Record<DoorApi, string>> = {
  "openai-completions": "messages",
  "openai-responses": "input",
  "anthropic-messages": "messages",
  "google-generative-ai": "contents",
};

export function seeRequest(api: DoorApi, body: Json): Seen {
  const messages = (body[LISTS[api]] ?? []) as Json[];
  const last = messages.findLast(({ role }) => role !== "system" && role !== "developer") ?? {};
  const isPerson = last.role === "user" && !RESULT.test(JSON.stringify(last));
  const { responseSchema, responseJsonSchema } = (body.generationConfig ?? {}) as Json;
  const schema = (responseJsonSchema ?? responseSchema) as Schema | undefined;
  return {
    ...{ messages, text: JSON.stringify(messages), tools: new Set(namesOf(body.tools)) },
    lastWords: isPerson ? textsIn(last.content ?? last.parts).join("\n") : null,
    ...(schema !== undefined && { schema }),
  };
}

const RESULT = /"tool_result"|"functionResponse"/;

/** Whatever a wire calls the list that a tool of several has. */
function namesOf(tools: unknown): string[] {
  if (!Array.isArray(tools)) return [];
  return (tools as Json[]).flatMap((tool) => {
    const { name } = (tool.function ?? tool) as Json;
    const own = typeof name === "string" ? [name] : [];
    return [...own, ...namesOf(tool.functionDeclarations), ...namesOf(tool.tools)];
  });
}

/** Every text in it, at any depth, in order. */
export function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}
