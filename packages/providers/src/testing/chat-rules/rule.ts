// What a rule of the Chat Completions wire is, and how rules read an unknown body.
import { isRecord } from "@clew/plugin-sdk/host";

/** Whose strictness a rule belongs to; a rule without flavors is everybody's. */
export type ChatRuleFlavor =
  | "openai"
  | "groq"
  | "deepseek"
  | "kimi"
  | "template"
  | "proxy"
  | "compatible";

export type JsonObject = Readonly<Record<string, unknown>>;

export interface ChatRule {
  /** As in the documentation of the wire, e.g. "tool.missing". */
  id: string;
  /**
   * "reject": the first-party endpoint answers 400. "compat": tolerated there, rejected by
   * compatible servers or older models.
   */
  level: "reject" | "compat";
  /** Absent = all. */
  flavors?: readonly ChatRuleFlavor[];
  /** How the body breaks the rule, in the words a server would use; undefined when it does not. */
  find(body: JsonObject): string | undefined;
}

/** A message with its position. */
export interface At {
  value: JsonObject;
  path: string;
}

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** The objects of an array, each with its path. */
export function objects(value: unknown, path: string): At[] {
  return list(value).flatMap((item, index) =>
    isRecord(item) ? [{ value: item, path: `${path}[${index}]` }] : [],
  );
}

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

export const functionOf = ({ value }: At): JsonObject =>
  isRecord(value.function) ? value.function : {};

/** The first item that breaks a rule, told by `tell`. */
export function first<T>(
  items: readonly T[],
  breaks: (item: T) => boolean,
  tell: (item: T) => string,
): string | undefined {
  const found = items.find(breaks);
  return found === undefined ? undefined : tell(found);
}
