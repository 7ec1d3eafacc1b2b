import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeRules } from "../__fixtures__/rule-table.ts";
import { checkBody } from "../server/check.ts";
import { CHATGPT_WIRE, RESPONSES_WIRE } from "./wire.ts";

const user = (content: unknown) => ({ role: "user", content });
const model = (content: unknown, change: object = {}) => ({
  type: "message",
  role: "assistant",
  content,
  ...change,
});
const written = (text: string) => ({ type: "input_text", text });
const said = (text: string) => ({ type: "output_text", text });
const call = (call_id: string, change: object = {}) => ({
  type: "function_call",
  call_id,
  name: "read",
  arguments: "{}",
  ...change,
});
const output = (call_id: string, change: object = {}) => ({
  type: "function_call_output",
  call_id,
  output: "done",
  ...change,
});
const reasoning = (change: object = {}) => ({
  type: "reasoning",
  id: "rs_1",
  summary: [],
  encrypted_content: "x",
  ...change,
});
const image = (image_url: string) => ({ type: "input_image", image_url, detail: "auto" });
const hi = user("hi");
const READ = { type: "function", name: "read", parameters: {} };

const request = (change: object, ...input: object[]) => ({ model: "gpt-5.2", input, ...change });
const talk = (...input: object[]) => request({}, ...input);

const GOOD = [
  request(
    { instructions: "Be brief.", tools: [READ], store: false, stream: true, tool_choice: "auto" },
    user([written("look"), image("data:image/png;base64,iVBORw0KGgo=")]),
    reasoning(),
    model([said("so")], { id: "msg_1", phase: "commentary" }),
    call("a", { id: "fc_1" }),
    call("b"),
    output("b"),
    output("a", { output: [written("x")] }),
    reasoning({ id: undefined }),
    hi,
  ),
  { model: "gpt-4.1", input: "hi", temperature: 0.5 },
].map((body) => ({ body }));

describeRules({
  wire: RESPONSES_WIRE,
  good: GOOD,
  broken: {
    "model.required": { body: { input: "hi" } },
    "input.required": { body: { model: "gpt-5.2" } },
    "toplevel.unknown": { body: request({ foo: 1 }, hi) },
    "max_output_tokens.min": { body: request({ max_output_tokens: 15 }, hi) },
    "temperature.model": { body: request({ temperature: 0.5 }, hi) },
    "tools.shape": { body: request({ tools: [{ type: "function" }] }, hi) },
    "tools.name": [
      { body: request({ tools: [{ ...READ, name: "a b" }] }, hi) },
      { body: request({ tools: [{ ...READ, name: "a".repeat(65) }] }, hi) },
    ],
    "tool_choice.no_tools": { body: request({ tool_choice: "required" }, hi) },
    "text.length": { body: talk(user("a".repeat(10_485_761))) },
    "unicode.surrogate": [
      { body: talk(user("\ud800")) },
      { body: talk(call("a", { arguments: JSON.stringify({ a: "\ud800" }) }), output("a")) },
    ],
    "item.type": { body: talk({ type: "toolResult" }) },
    "item.unknown_field": { body: talk({ ...hi, name: "x" }) },
    "message.role": { body: talk({ role: "tool", content: "x" }) },
    "message.content": { body: talk(user(7)) },
    "message.content_empty": { body: talk(user([])) },
    "part.type": [{ body: talk(user([said("x")])) }, { body: talk(model([written("x")])) }],
    "part.text": { body: talk(user([{ type: "input_text" }])) },
    "part.breakpoint": {
      body: talk(user([{ type: "input_text", text: "x", prompt_cache_breakpoint: {} }])),
    },
    "part.image": { body: talk(user([image("data:image/png;base64,no base64")])) },
    "id.prefix": { body: talk(call("a", { id: "call_1" }), output("a")) },
    "id.charset": { body: talk(call("a", { id: "fc_1|2" }), output("a")) },
    "id.length": { body: talk(model("so", { id: `msg_${"a".repeat(61)}` })) },
    "id.trailing_underscore": { body: talk(model("so", { id: `msg_${"a".repeat(59)}_` })) },
    "id.duplicate": {
      body: talk(model("so", { id: "msg_1" }), hi, model("so", { id: "msg_1" })),
    },
    "reasoning.id": {
      body: talk(reasoning({ id: undefined, encrypted_content: undefined }), model("so")),
    },
    "reasoning.summary": { body: talk(reasoning({ summary: undefined }), model("so")) },
    "reasoning.encrypted": { body: talk(reasoning({ encrypted_content: 7 }), model("so")) },
    "reasoning.orphan": [
      { body: talk(hi, reasoning()) },
      { body: talk(reasoning(), hi, model("so")) },
    ],
    "reasoning.not_stored": {
      body: request({ store: false }, reasoning({ encrypted_content: undefined }), model("so")),
    },
    "call_id.required": {
      body: talk(call("a", { call_id: undefined }), output("a", { call_id: undefined })),
    },
    "call_id.length": { body: talk(call("a".repeat(65)), output("a".repeat(65))) },
    "call_id.duplicate": {
      body: talk(call("a"), output("a"), call("a"), output("b"), call("b")),
      also: ["output.order"],
    },
    "function_call.name": { body: talk(call("a", { name: "a b" }), output("a")) },
    "function_call.arguments": { body: talk(call("a", { arguments: {} }), output("a")) },
    "function_call.arguments_json": { body: talk(call("a", { arguments: "[" }), output("a")) },
    "function_call.unanswered": { body: talk(call("a"), hi) },
    "output.orphan": { body: talk(hi, output("a")) },
    "output.order": { body: talk(hi, output("a"), call("a")) },
    "output.value": [
      { body: talk(call("a"), output("a", { output: undefined })) },
      { body: talk(call("a"), output("a", { output: {} })) },
    ],
  },
});

describe("what ChatGPT's backend wants beyond the api", () => {
  const good = request({ instructions: "Be brief.", store: false, stream: true }, hi);
  const rulesOf = (change: object) =>
    checkBody(CHATGPT_WIRE, { ...good, ...change }).map(({ rule }) => rule);

  it("is found missing, each alone", () => {
    expect(rulesOf({})).toEqual([]);
    expect(rulesOf({ instructions: "" })).toEqual(["chatgpt.instructions"]);
    expect(rulesOf({ store: undefined })).toEqual(["chatgpt.store"]);
    expect(rulesOf({ stream: false })).toEqual(["chatgpt.stream"]);
    expect(rulesOf({ max_output_tokens: 100 })).toEqual(["chatgpt.parameter"]);
    expect(rulesOf({ input: "hi" })).toEqual(["chatgpt.input"]);
  });
});

describe("a Responses request that was made with care", () => {
  const step = fc.record({
    ask: fc.string(),
    calls: fc.integer({ min: 0, max: 3 }),
    withIds: fc.boolean(),
    thinks: fc.boolean(),
  });

  it("is never refused", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        const input = steps.flatMap(({ ask, calls, withIds, thinks }, turn) => {
          const id = (prefix: string, index = 0) =>
            withIds ? { id: `${prefix}_${turn}_${index}` } : { id: undefined };
          const ids = Array.from({ length: calls }, (_, index) => `call_${turn}_${index}`);
          return [
            user([written(ask.toWellFormed())]),
            ...(thinks ? [reasoning(id("rs"))] : []),
            ...ids.map((name, index) => call(name, id("fc", index))),
            ...(thinks && calls === 0 ? [] : ids.map((name) => output(name))),
            model([said(ask.toWellFormed())], id("msg")),
          ];
        });
        expect(checkBody(RESPONSES_WIRE, request({ tools: [READ] }, ...input))).toEqual([]);
      }),
    );
  });
});
