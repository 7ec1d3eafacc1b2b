import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeRules } from "../__fixtures__/rule-table.ts";
import { checkBody } from "../server/check.ts";
import { MESSAGES_WIRE } from "./wire.ts";

const OPUS = "claude-opus-4-5";
const BOUND = "claude-opus-5-5";
const user = (...content: object[]) => ({ role: "user", content });
const model = (...content: object[]) => ({ role: "assistant", content });
const said = (text: string) => ({ type: "text", text });
const use = (id: string, change: object = {}) => ({
  type: "tool_use",
  id,
  name: "read",
  input: {},
  ...change,
});
const result = (id: string, change: object = {}) => ({
  type: "tool_result",
  tool_use_id: id,
  content: "done",
  ...change,
});
const thinking = (change: object = {}) => ({
  type: "thinking",
  thinking: "hm",
  signature: "s",
  ...change,
});
const MARK = { cache_control: { type: "ephemeral" } };
const hi = user(said("hi"));

/** The head of a PNG of so many pixels a side, as Base64. */
function png(side: number): string {
  const bytes = Buffer.alloc(24);
  bytes.write("89504e470d0a1a0a0000000d49484452", "hex");
  bytes.writeUInt32BE(side, 16);
  bytes.writeUInt32BE(1, 20);
  return bytes.toString("base64");
}
const image = (change: object = {}) => ({
  type: "image",
  source: { type: "base64", media_type: "image/png", data: png(1), ...change },
});

const request = (change: object, ...messages: object[]) => ({
  model: OPUS,
  max_tokens: 2000,
  messages,
  ...change,
});
const talk = (...messages: object[]) => request({}, ...messages);
const asked = (...calls: object[]) => [hi, model(...calls)];
const READ = { name: "read", input_schema: { type: "object" } };
const tools = (...given: object[]) => ({ tools: given });

const COMPACT = { "anthropic-beta": "compact-2026-01-12" };
const compacting = (value: number) => ({
  context_management: {
    edits: [{ type: "compact_20260112", trigger: { type: "input_tokens", value } }],
  },
});

const GOOD = [
  request(
    {
      system: [{ ...said("Be brief."), ...MARK }],
      tools: [{ ...READ, description: "reads" }],
      thinking: { type: "enabled", budget_tokens: 1024 },
      stream: true,
    },
    { role: "user", content: "look" },
    model(thinking(), said("so"), use("a"), use("b")),
    user(result("b", { is_error: true }), result("a", { content: [said("x"), image()] }), image()),
  ),
  request(
    { model: "claude-opus-4-8" },
    hi,
    { role: "system", content: "Now." },
    model(said("ok")),
    hi,
  ),
  request({ model: BOUND, thinking: { type: "adaptive" } }, hi, hi),
  talk(hi, model(said("so"))),
].map((body) => ({ body }));

describeRules({
  wire: MESSAGES_WIRE,
  good: GOOD,
  broken: {
    "minimax.tool_result.orphan": {
      body: talk(user(result("a"))),
      flavor: "minimax",
      also: ["tool_result.orphan"],
    },
    "minimax.tool_call.unanswered": {
      body: talk(...asked(use("a")), hi),
      flavor: "minimax",
      also: ["tool_use.unanswered"],
    },
    "minimax.thinking.type": {
      body: request({ thinking: { type: "enabled", budget_tokens: 1024 } }, hi),
      flavor: "minimax",
    },
    "minimax.content.empty": {
      body: talk({ role: "user", content: "" }),
      flavor: "minimax",
      also: ["content.empty"],
    },
    "minimax.tools.parameters": {
      body: request(tools({ ...READ, input_schema: {} }), hi),
      flavor: "minimax",
      also: ["tools.schema"],
    },
    "compaction.beta": { body: request(compacting(50_000), hi) },
    "compaction.trigger": { body: request(compacting(49_999), hi), headers: COMPACT },
    "compaction.content": {
      body: talk(hi, model({ type: "compaction", content: "" }, said("so")), hi),
    },
    size: { body: talk(hi), headers: { "content-length": "33554433" } },
    "model.required": { body: { max_tokens: 5, messages: [hi] } },
    "max_tokens.required": { body: { model: OPUS, messages: [hi] } },
    "max_tokens.range": { body: request({ max_tokens: -1 }, hi) },
    "messages.required": { body: { model: OPUS, max_tokens: 5 } },
    "messages.empty": { body: talk() },
    "messages.limit": {
      body: request({ model: BOUND }, ...Array.from({ length: 100_001 }, () => hi)),
    },
    "toplevel.extra": { body: request({ foo: 1 }, hi) },
    "system.content": [
      { body: request({ system: 7 }, hi) },
      { body: request({ system: [said("")] }, hi) },
      { body: request({ system: [image()] }, hi) },
    ],
    "temperature.range": { body: request({ temperature: 1.5 }, hi) },
    "unicode.surrogate": { body: talk(user(said("\ud800"))) },
    "role.invalid": { body: talk({ role: "tool", content: "x" }) },
    "role.system": { body: talk(hi, { role: "system", content: "x" }) },
    "system.placement": [
      [{ role: "system", content: "x" }, hi],
      [hi, model(said("so")), { role: "system", content: "x" }, model(said("so")), hi],
      [hi, { role: "system", content: "x" }, hi],
      [hi, { role: "system", content: "x" }, { role: "system", content: "x" }],
    ].map((messages) => ({ body: request({ model: BOUND }, ...messages) })),
    "first.user": { body: talk(model(said("so")), hi) },
    "roles.alternate": { body: talk(hi, hi) },
    "message.extra": { body: talk({ ...hi, id: "x" }) },
    "content.type": [
      { body: talk({ role: "user", content: 7 }) },
      { body: talk({ role: "user", content: ["hi"] }) },
      { body: talk({ role: "user" }) },
    ],
    "content.empty": { body: talk({ role: "user", content: [] }) },
    "block.type": { body: talk(user({ type: "input_text", text: "hi" })) },
    "block.extra": { body: talk(user({ ...said("hi"), id: "x" })) },
    "block.role": { body: talk(user(said("hi"), thinking())) },
    "text.type": { body: talk(user({ type: "text" })) },
    "text.empty": { body: talk(user(said(""))) },
    "text.whitespace": [
      { body: talk(user(said(" \n"))) },
      { body: talk({ role: "user", content: " " }) },
    ],
    "prefill.thinking": {
      body: request({ thinking: { type: "enabled", budget_tokens: 1024 } }, hi, model(said("so"))),
    },
    "prefill.model": { body: request({ model: BOUND }, hi, model(said("so"))) },
    "prefill.whitespace": { body: talk(hi, model(said("so "))) },
    "tool_use.id": { body: talk(...asked(use("a|b")), user(result("a|b"))) },
    "tool_use.id_length": {
      body: talk(...asked(use("a".repeat(65))), user(result("a".repeat(65)))),
    },
    "tool_use.name": { body: talk(...asked(use("a", { name: "a b" })), user(result("a"))) },
    "tool_use.input": { body: talk(...asked(use("a", { input: "{}" })), user(result("a"))) },
    "tool_use.unique": {
      body: talk(...asked(use("a")), user(result("a")), model(use("a")), user(result("a"))),
    },
    "tool_use.unanswered": [
      { body: talk(...asked(use("a")), hi) },
      { body: talk(...asked(use("a"))) },
      { body: talk(...asked(use("a"), use("b")), user(result("a"))) },
    ],
    "tool_result.orphan": { body: talk(user(result("a"))) },
    "tool_result.duplicate": { body: talk(...asked(use("a")), user(result("a"), result("a"))) },
    "tool_result.not_first": { body: talk(...asked(use("a")), user(said("x"), result("a"))) },
    "tool_result.split": {
      body: talk(...asked(use("a"), use("b")), user(result("a")), user(result("b"))),
      also: ["roles.alternate"],
    },
    "tool_result.id_required": {
      body: talk(user({ type: "tool_result", content: "x" })),
      also: ["tool_result.orphan"],
    },
    "tool_result.content": [
      { body: talk(...asked(use("a")), user(result("a", { content: [thinking()] }))) },
      { body: talk(...asked(use("a")), user(result("a", { content: { text: "x" } }))) },
    ],
    "tool_result.error_text_only": {
      body: talk(...asked(use("a")), user(result("a", { is_error: true, content: [image()] }))),
    },
    "tool_result.error_empty": {
      body: talk(...asked(use("a")), user(result("a", { is_error: true, content: [] }))),
    },
    "image.source": { body: talk(user({ type: "image" })) },
    "image.media_type": { body: talk(user(image({ media_type: "image/bmp" }))) },
    "image.base64": { body: talk(user(image({ data: "no base64" }))) },
    "image.mismatch": { body: talk(user(image({ media_type: "image/jpeg" }))) },
    "image.size": { body: talk(user(image({ data: png(1) + "A".repeat(5 * 2 ** 20) }))) },
    "image.dimensions": { body: talk(user(image({ data: png(8001) }))) },
    "image.many_dimensions": {
      body: talk(user(...Array.from({ length: 21 }, () => image({ data: png(2001) })))),
    },
    "image.count": { body: talk(user(...Array.from({ length: 101 }, () => image()))) },
    "thinking.text": { body: talk(hi, model(thinking({ thinking: undefined }), said("so"))) },
    "thinking.signature": {
      body: talk(hi, model(thinking({ signature: undefined }), said("so"))),
    },
    "thinking.signature_blank": {
      body: talk(hi, model(thinking({ signature: " " }), said("so"))),
    },
    "redacted.data": { body: talk(hi, model({ type: "redacted_thinking" }, said("so"))) },
    "thinking.must_lead": {
      body: request(
        { thinking: { type: "enabled", budget_tokens: 1024 } },
        ...asked(use("a")),
        user(result("a")),
      ),
    },
    "thinking.must_not_end": { body: talk(hi, model(said("so"), thinking())) },
    "thinking.type": { body: request({ thinking: { type: "on" } }, hi) },
    "thinking.budget_min": {
      body: request({ thinking: { type: "enabled", budget_tokens: 1023 } }, hi),
    },
    "thinking.budget_max": {
      body: request({ thinking: { type: "enabled", budget_tokens: 2000 } }, hi),
    },
    "thinking.model": [
      { body: request({ model: BOUND, thinking: { type: "enabled", budget_tokens: 1024 } }, hi) },
      { body: request({ model: BOUND, thinking: { type: "disabled" } }, hi) },
    ],
    "thinking.temperature": {
      body: request({ model: BOUND, thinking: { type: "adaptive" }, temperature: 0.5 }, hi),
    },
    "thinking.block_binding": {
      body: request({ model: BOUND, thinking: { type: "adaptive", block_binding: {} } }, hi),
    },
    "cache_control.max": {
      body: talk(user(...Array.from({ length: 5 }, () => ({ ...said("x"), ...MARK })))),
    },
    "cache_control.empty_text": {
      body: talk(user({ ...said(""), ...MARK })),
      also: ["text.empty"],
    },
    "cache_control.thinking": { body: talk(hi, model(thinking(MARK), said("so"))) },
    "cache_control.shape": [
      { body: talk(user({ ...said("x"), cache_control: { type: "persistent" } })) },
      { body: talk(user({ ...said("x"), cache_control: { type: "ephemeral", ttl: "2h" } })) },
    ],
    "cache_control.ttl_order": {
      body: talk(
        user(
          { ...said("x"), ...MARK },
          { ...said("x"), cache_control: { type: "ephemeral", ttl: "1h" } },
        ),
      ),
    },
    "tools.name": { body: request(tools({ ...READ, name: "a b" }), hi) },
    "tools.unique": { body: request(tools(READ, READ), hi) },
    "tools.schema": { body: request(tools({ name: "read", input_schema: {} }), hi) },
    "tools.schema_root_union": {
      body: request(tools({ ...READ, input_schema: { type: "object", anyOf: [] } }), hi),
    },
    "tool_choice.no_tools": { body: request({ tool_choice: { type: "auto" } }, hi) },
    "tool_choice.unknown": {
      body: request({ ...tools(READ), tool_choice: { type: "tool", name: "write" } }, hi),
    },
    "tool_choice.model": {
      body: request({ model: BOUND, ...tools(READ), tool_choice: { type: "any" } }, hi),
    },
    "thinking.tool_choice": {
      body: request(
        {
          ...tools(READ),
          tool_choice: { type: "any" },
          thinking: { type: "enabled", budget_tokens: 1024 },
        },
        hi,
      ),
    },
  },
});

describe("a Messages request that was made with care", () => {
  const words = fc.string({ minLength: 1 }).map((text) => `word ${text.toWellFormed()}.`);
  const step = fc.record({ ask: words, calls: fc.integer({ min: 0, max: 3 }), answer: words });
  const steps = fc.array(step, { minLength: 1, maxLength: 6 });
  const name = fc.constantFrom(OPUS, BOUND, "claude-3-7-sonnet-20250219", "MiniMax-M3");

  it("is never refused", () => {
    fc.assert(
      fc.property(steps, name, (conversation, named) => {
        const messages = conversation.flatMap(({ ask, calls, answer }, turn) => {
          const ids = Array.from({ length: calls }, (_, index) => `call_${turn}_${index}`);
          const loop =
            calls === 0
              ? []
              : [
                  model(thinking(), ...ids.map((id) => use(id))),
                  user(...ids.map((id) => result(id))),
                ];
          return [user(said(ask)), ...loop, model(said(answer))];
        });
        const body = request({ model: named, ...tools(READ) }, ...messages, hi);
        expect(checkBody(MESSAGES_WIRE, body)).toEqual([]);
      }),
    );
  });
});
