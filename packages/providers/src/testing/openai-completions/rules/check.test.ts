import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../server/json.ts";
import { CHAT_RULES, checkChatRequest } from "./check.ts";
import type { ChatRuleFlavor } from "./rule.ts";

const toolCall = (id: string, change: object = {}) => ({
  id,
  type: "function",
  function: { name: "read", arguments: "{}" },
  ...change,
});
const asking = (...calls: object[]) => ({ role: "assistant", content: null, tool_calls: calls });
const answering = (id: string) => ({ role: "tool", tool_call_id: id, content: "done" });
const user = { role: "user", content: "hi" };
const image = (url: string) => ({ type: "image_url", image_url: { url } });

const GOOD: JsonObject = {
  model: "m",
  messages: [
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [{ type: "text", text: "look" }, image("data:image/png;base64,iVBORw0KGgo=")],
    },
    asking(toolCall("a"), toolCall("b")),
    answering("b"),
    answering("a"),
    { role: "assistant", content: "ok" },
    { role: "user", content: "thanks" },
  ],
  tools: [{ type: "function", function: { name: "read", description: "", parameters: {} } }],
  stream: true,
  stream_options: { include_usage: true },
};

const withMessages = (...messages: object[]): JsonObject => ({ model: "m", messages });

/** Per rule: a body that breaks it and nothing else. */
const BROKEN: Readonly<Record<string, { body: unknown; flavor?: ChatRuleFlavor }>> = {
  "model.required": { body: { messages: [user] } },
  "messages.required": { body: { model: "m" } },
  "messages.empty": { body: withMessages() },
  "toplevel.unknown": { body: { ...GOOD, foo: 1 }, flavor: "openai" },
  "message.unknown_field": {
    body: withMessages({ ...user, reasoning_content: "hm" }),
    flavor: "groq",
  },
  "max_tokens.model": { body: { ...GOOD, model: "gpt-5.2", max_tokens: 5 }, flavor: "openai" },
  stream_options: { body: { ...GOOD, stream: false } },
  "unicode.surrogate": { body: withMessages({ role: "user", content: "\ud800" }) },
  "role.invalid": { body: withMessages({ role: "model", content: "hi" }) },
  "content.null": { body: withMessages({ role: "user", content: null }) },
  "content.type": { body: withMessages({ role: "user", content: 7 }) },
  "content.empty_array": { body: withMessages({ role: "user", content: [] }) },
  "content.blank_assistant": { body: withMessages({ role: "assistant", content: " " }) },
  "part.type": {
    body: withMessages({ role: "user", content: [{ type: "input_text", text: "hi" }] }),
  },
  "part.text": { body: withMessages({ role: "user", content: [{ type: "text" }] }) },
  "part.image_role": {
    body: withMessages({ role: "system", content: [image("https://example.com/a.png")] }),
  },
  "part.image": {
    body: withMessages({ role: "user", content: [image("data:image/png;base64,no base64")] }),
  },
  "name.pattern": { body: withMessages({ ...user, name: "two words" }) },
  "template.alternate": { body: withMessages(user, user), flavor: "template" },
  "template.system_first": {
    body: withMessages(user, { role: "system", content: "x" }),
    flavor: "template",
  },
  "reasoning.required": {
    body: withMessages(user, asking(toolCall("a")), answering("a")),
    flavor: "deepseek",
  },
  "tool_calls.empty": { body: withMessages({ role: "assistant", content: "x", tool_calls: [] }) },
  "tool_calls.type": {
    body: withMessages(asking(toolCall("a", { type: undefined })), answering("a")),
  },
  "tool_calls.id": {
    body: withMessages(asking(toolCall("")), { role: "tool", tool_call_id: "", content: "x" }),
  },
  "tool_calls.id_length": {
    body: withMessages(asking(toolCall("a".repeat(65))), answering("a".repeat(65))),
  },
  "tool_calls.id_length40": {
    body: withMessages(asking(toolCall("a".repeat(41))), answering("a".repeat(41))),
  },
  "tool_calls.id_duplicate": {
    body: withMessages(asking(toolCall("a"), toolCall("a")), answering("a")),
  },
  "tool_calls.name": {
    body: withMessages(
      asking(toolCall("a", { function: { name: "no spaces", arguments: "{}" } })),
      answering("a"),
    ),
  },
  "tool_calls.arguments": {
    body: withMessages(
      asking(toolCall("a", { function: { name: "read", arguments: {} } })),
      answering("a"),
    ),
  },
  "tool_calls.arguments_json": {
    body: withMessages(
      asking(toolCall("a", { function: { name: "read", arguments: "[" } })),
      answering("a"),
    ),
  },
  "tool.id_required": { body: withMessages(asking(toolCall("")), { role: "tool", content: "x" }) },
  "tool.orphan": { body: withMessages(user, answering("a")) },
  "tool.unmatched": { body: withMessages(asking(toolCall("a")), answering("a"), answering("b")) },
  "tool.missing": { body: withMessages(asking(toolCall("a")), user) },
  "tool.duplicate": { body: withMessages(asking(toolCall("a")), answering("a"), answering("a")) },
  "tools.name": { body: { ...GOOD, tools: [{ type: "function", function: { name: "a b" } }] } },
  "tools.shape": { body: { ...GOOD, tools: [{ name: "read" }] } },
  "tools.empty": { body: { ...GOOD, tools: [] } },
  "tools.max": {
    body: {
      ...GOOD,
      tools: Array.from({ length: 129 }, () => ({ type: "function", function: { name: "read" } })),
    },
  },
  "tool_choice.no_tools": { body: { ...withMessages(user), tool_choice: "auto" } },
  "anthropic.prefill": {
    body: {
      ...withMessages(user, { role: "assistant", content: "so" }),
      model: "anthropic/claude-opus-4.6",
    },
    flavor: "openrouter",
  },
  "anthropic.tool_id": {
    body: {
      ...withMessages(user, asking(toolCall("a|b")), answering("a|b")),
      model: "anthropic/claude-opus-4.6",
    },
    flavor: "openrouter",
  },
  "anthropic.cache_max": {
    body: {
      ...withMessages({
        role: "user",
        content: Array.from({ length: 5 }, () => ({
          type: "text",
          text: "x",
          cache_control: { type: "ephemeral" },
        })),
      }),
      model: "anthropic/claude-opus-4.6",
    },
    flavor: "openrouter",
  },
  "gemini.signature_base64": {
    body: {
      ...withMessages(user, {
        role: "assistant",
        content: "so",
        reasoning_details: [{ type: "reasoning.encrypted", data: "no base64" }],
      }),
      model: "google/gemini-3-pro",
    },
    flavor: "openrouter",
  },
  "mistral.tool_id": {
    body: {
      ...withMessages(user, asking(toolCall("a")), answering("a")),
      model: "mistralai/large",
    },
    flavor: "openrouter",
  },
  "minimax.tools.parameters": {
    body: { ...GOOD, tools: [{ type: "function", function: { name: "read", parameters: {} } }] },
    flavor: "minimax",
  },
  "minimax.arguments.json": {
    body: withMessages(
      asking(toolCall("a", { function: { name: "read", arguments: "[" } })),
      answering("a"),
    ),
    flavor: "minimax",
  },
  "gemini.signature_required": {
    body: { ...withMessages(user, asking(toolCall("a")), answering("a")), model: "gemini-3-pro" },
    flavor: "gemini",
  },
  "tools.required_by_history": {
    body: withMessages(asking(toolCall("a")), answering("a")),
    flavor: "proxy",
  },
};

/** Rules that cannot be broken alone: their bodies break these too. */
const ALSO: Readonly<Record<string, readonly string[]>> = {
  "tool_calls.id": ["tool.id_required"],
  "tool.id_required": ["tool_calls.id"],
  "tool_calls.id_length": ["tool_calls.id_length40"],
  "tool_calls.arguments": ["tool_calls.arguments_json"],
  "minimax.arguments.json": ["tool_calls.arguments_json"],
};

describe("checkChatRequest", () => {
  it("finds nothing in a good request, for whichever server", () => {
    const flavors: ChatRuleFlavor[] = ["compatible", "openai", "groq", "template", "proxy"];
    for (const flavor of flavors) expect(checkChatRequest(GOOD, flavor)).toEqual([]);
  });

  it("refuses a body that is no object", () => {
    for (const body of [null, [], "x"])
      expect(checkChatRequest(body)).toMatchObject([{ rule: "body" }]);
  });

  it("has a broken body for every rule", () => {
    expect(Object.keys(BROKEN).sort()).toEqual(CHAT_RULES.map(({ id }) => id).sort());
  });

  it.each(Object.entries(BROKEN))(
    "finds %s, and nothing that is not broken",
    (id, { body, flavor }) => {
      const found = checkChatRequest(body, flavor).map(({ rule }) => rule);
      expect(found.sort()).toEqual([id, ...(ALSO[id] ?? [])].sort());
    },
  );

  it("keeps the rules of one server from the others", () => {
    for (const [id, { body, flavor }] of Object.entries(BROKEN))
      if (flavor !== undefined)
        expect(checkChatRequest(body, "compatible").map(({ rule }) => rule)).toEqual(
          ALSO[id] ?? [],
        );
  });

  it("finds a lone surrogate behind the second decoding of arguments, and takes a literal backslash for what it is", () => {
    const withArguments = (json: string) =>
      withMessages(
        asking(toolCall("a", { function: { name: "read", arguments: json } })),
        answering("a"),
      );
    expect(
      checkChatRequest(withArguments(JSON.stringify({ a: "\ud800" }))).map(({ rule }) => rule),
    ).toEqual(["unicode.surrogate"]);
    expect(checkChatRequest(withArguments(JSON.stringify({ a: "\\ud800" })))).toEqual([]);
    expect(checkChatRequest(withMessages({ role: "user", content: "\\ud800 😀" }))).toEqual([]);
  });
});
