import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeRules } from "../__fixtures__/rule-table.ts";
import { checkBody } from "../server/check.ts";
import { GEMINI_WIRE } from "./wire.ts";

const THIRD = "/v1beta/models/gemini-3-pro:generateContent";
const VERTEX = "/v1/projects/p/locations/l/publishers/google/models/gemini-2.5-pro:generateContent";
const user = (...parts: object[]) => ({ role: "user", parts });
const model = (...parts: object[]) => ({ role: "model", parts });
const said = (text: string) => ({ text });
const call = (name: string, change: object = {}) => ({
  functionCall: { name, args: {}, ...change },
});
const response = (name: string, change: object = {}) => ({
  functionResponse: { name, response: { output: "done" }, ...change },
});
const hi = user(said("hi"));
const talk = (...contents: object[]) => ({ contents });
const declaring = (...functionDeclarations: object[]) => ({
  contents: [hi],
  tools: [{ functionDeclarations }],
});
const asking = (generationConfig: object) => ({ ...talk(hi), generationConfig });
const choosing = (mode: string, ...allowedFunctionNames: string[]) => ({
  functionCallingConfig: { mode, allowedFunctionNames },
});
const inline = (mimeType: string, data: string) => ({ inlineData: { mimeType, data } });

const GOOD = [
  {
    body: {
      systemInstruction: { parts: [said("Be brief.")] },
      contents: [
        user(said("look"), inline("image/png", "iVBORw0KGgo=")),
        model({ text: "hm", thought: true }, said("so"), call("read"), call("read")),
        user(response("read"), response("read")),
        model(said("done")),
        hi,
      ],
      tools: [{ functionDeclarations: [{ name: "read", parameters: { type: "OBJECT" } }] }],
      generationConfig: { thinkingConfig: { thinkingBudget: 100 } },
    },
  },
  {
    body: {
      system_instruction: { parts: [said("Be brief.")] },
      contents: [
        hi,
        model(
          { ...call("read", { id: "a" }), thought_signature: "c2ln" },
          call("read", { id: "b" }),
        ),
        user(response("read", { id: "b" }), response("read", { id: "a" })),
      ],
    },
    path: THIRD,
  },
];

describeRules({
  wire: GEMINI_WIRE,
  good: GOOD,
  broken: {
    "toplevel.unknown": { body: { ...talk(hi), messages: [] } },
    "content.unknown_field": { body: talk({ ...hi, id: "x" }) },
    "part.unknown_field": { body: talk(user({ ...said("hi"), type: "text" })) },
    "contents.required": { body: {} },
    "role.invalid": { body: talk({ role: "assistant", parts: [said("x")] }) },
    "parts.empty": { body: talk(user()) },
    "part.data": { body: talk(user({ thought: true })) },
    "part.oneof": { body: talk(user({ ...said("x"), ...inline("image/png", "AAAA") })) },
    "first.user": { body: talk(model(said("x")), hi) },
    "roles.alternate": { body: talk(hi, hi) },
    "last.model": { body: talk(hi, model(said("x"))) },
    "part.role": { body: talk(user(call("read"))) },
    "signature.base64": { body: talk(user({ ...said("x"), thoughtSignature: "no base64!" })) },
    "inline.base64": { body: talk(user(inline("image/png", "no base64!"))) },
    "inline.mime": { body: talk(user(inline("image/bmp", "AAAA"))) },
    "unicode.surrogate": { body: talk(user(said("\ud800"))) },
    "call.position": [
      {
        body: talk(hi, model(said("x")), model(call("read")), user(response("read"))),
      },
      { body: talk(model(call("read")), user(response("read"))) },
    ],
    "response.position": { body: talk(hi, model(said("x")), user(response("read"))) },
    "response.count": [
      { body: talk(hi, model(call("read"), call("read")), user(response("read"))) },
      { body: talk(hi, model(call("read")), hi) },
    ],
    "response.name": {
      body: talk(hi, model(call("read")), user(response(""))),
      also: ["response.name_match"],
    },
    "response.name_match": { body: talk(hi, model(call("read")), user(response("write"))) },
    "response.id_match": {
      body: talk(
        hi,
        model({ ...call("read", { id: "a" }), thoughtSignature: "c2ln" }),
        user(response("read", { id: "b" })),
      ),
      path: THIRD,
    },
    "response.struct": {
      body: talk(hi, model(call("read")), user(response("read", { response: "done" }))),
    },
    "call.args": {
      body: talk(hi, model(call("read", { args: "{}" })), user(response("read"))),
    },
    "call.name": [
      { body: talk(hi, model(call("a b")), user(response("a b"))) },
      {
        body: talk(hi, model(call("")), user(response("read"))),
        also: ["response.name_match"],
      },
    ],
    "signature.required": {
      body: talk(hi, model(call("read")), user(response("read"))),
      path: THIRD,
    },
    "tools.name": [
      { body: declaring({ name: "1st" }) },
      { body: declaring({ name: "a".repeat(65) }) },
    ],
    "tools.duplicate": { body: declaring({ name: "read" }, { name: "read" }) },
    "tools.schema": [
      { body: declaring({ name: "read", parameters: { type: "OBJECT", $schema: "x" } }) },
      {
        body: declaring({
          name: "read",
          parameters: { properties: { a: { anyOf: [{ const: 1 }] } } },
        }),
      },
    ],
    "id.unknown_field": [
      { body: talk(hi, model(call("read", { id: "a" })), user(response("read"))), path: VERTEX },
      { body: talk(hi, model(call("read")), user(response("read", { id: "a" }))), path: VERTEX },
    ],
    "generation.unknown_field": { body: asking({ thinking: {} }) },
    "thinking.unknown_field": { body: asking({ thinkingConfig: { effort: "low" } }) },
    "thinking.both": {
      body: asking({ thinkingConfig: { thinkingBudget: 1, thinkingLevel: "LOW" } }),
    },
    "thinking.unsupported": {
      body: asking({ thinkingConfig: { includeThoughts: true } }),
      path: "/v1beta/models/gemini-2.0-flash:generateContent",
    },
    "thinking.level": [
      { body: asking({ thinkingConfig: { thinkingLevel: "MINIMAL" } }), path: THIRD },
      { body: asking({ thinkingConfig: { thinkingLevel: "LOW" } }), path: VERTEX },
      { body: asking({ thinkingConfig: { thinkingLevel: "HUGE" } }) },
    ],
    "thinking.budget": [
      { body: asking({ thinkingConfig: { thinkingBudget: 0 } }), path: VERTEX },
      { body: asking({ thinkingConfig: { thinkingBudget: 90_000 } }), path: VERTEX },
    ],
    "format.json_schema": { body: asking({ responseJsonSchema: { type: "object" } }) },
    "format.tools": {
      body: { ...declaring({ name: "read" }), ...asking({ responseMimeType: "application/json" }) },
      path: VERTEX,
    },
    "choice.names": [
      { body: { ...declaring({ name: "read" }), toolConfig: choosing("AUTO", "read") } },
      { body: { ...declaring({ name: "read" }), toolConfig: choosing("ANY", "look") } },
    ],
  },
});

describe("a Gemini request that was made with care", () => {
  const step = fc.record({ ask: fc.string(), calls: fc.integer({ min: 0, max: 3 }) });

  it("is never refused", () => {
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        (steps, isThird) => {
          const contents = steps.flatMap(({ ask, calls }, turn) => {
            const ids = Array.from({ length: calls }, (_, index) => `${turn}_${index}`);
            const signed = (index: number) => (index === 0 ? { thoughtSignature: "c2ln" } : {});
            const loop = [
              model(...ids.map((id, index) => ({ ...call("read", { id }), ...signed(index) }))),
              user(...ids.map((id) => response("read", { id }))),
            ];
            return [
              user(said(ask.toWellFormed())),
              ...(calls === 0 ? [] : loop),
              model(said("So it is.")),
            ];
          });
          const path = isThird ? THIRD : "/v1beta/models/gemini-2.5-pro:generateContent";
          expect(checkBody(GEMINI_WIRE, talk(...contents, hi), { path })).toEqual([]);
        },
      ),
    );
  });
});
