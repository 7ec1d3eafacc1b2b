import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeRules } from "../__fixtures__/rule-table.ts";
import { checkBody } from "../server/check.ts";
import { MISTRAL_WIRE } from "./wire.ts";

const user = (content: unknown) => ({ role: "user", content });
const model = (content: unknown, change: object = {}) => ({
  role: "assistant",
  content,
  ...change,
});
const call = (id: string | undefined, change: object = {}) => ({
  id,
  type: "function",
  function: { name: "read", arguments: "{}", ...change },
});
const asking = (...tool_calls: object[]) => model("", { tool_calls });
const tool = (tool_call_id: string, change: object = {}) => ({
  role: "tool",
  tool_call_id,
  content: "done",
  ...change,
});
const said = (text: string) => ({ type: "text", text });
const thinking = { type: "thinking", thinking: [said("hm")], closed: true };
const hi = user("hi");
const A = "aaaaaaaaa";
const B = "bbbbbbbbb";
const READ = { type: "function", function: { name: "read", parameters: {} } };

const request = (change: object, ...messages: object[]) => ({
  model: "mistral-large-latest",
  messages,
  ...change,
});
const talk = (...messages: object[]) => ({ body: request({}, ...messages) });

describeRules({
  wire: MISTRAL_WIRE,
  good: [
    {
      body: request(
        { tools: [READ], stream: true, prompt_cache_key: "k" },
        { role: "system", content: "Be brief." },
        user([said("look"), { type: "image_url", image_url: "data:image/png;base64,AAAA" }]),
        asking(call(A, { arguments: {} }), call(B)),
        tool(B),
        tool(A, { name: "read" }),
        model([thinking, said("so")]),
        hi,
        hi,
      ),
    },
    talk(hi, model("so", { prefix: true })),
    { ...talk(hi, asking(call(A)), tool(A), hi), flavor: "user-after-tool" },
  ],
  broken: {
    "model.required": { body: { messages: [hi] } },
    "messages.empty": talk(),
    "toplevel.extra": { body: request({ store: false }, hi) },
    "message.extra": talk({ ...hi, name: "x" }),
    "role.invalid": talk({ role: "developer", content: "x" }, hi),
    "content.type": [talk(user(7)), talk(user(null))],
    "chunk.type": talk(user([{ type: "input_text", text: "x" }])),
    "chunk.thinking_role": talk(user([thinking])),
    "function.arguments": talk(hi, asking(call(A, { arguments: 7 })), tool(A)),
    "unicode.surrogate": talk(user("\ud800")),
    "single.start": talk(model("so"), hi),
    order: [
      talk(hi, asking(call(A)), tool(A), hi),
      talk(hi, model("so"), { role: "system", content: "x" }, hi),
    ],
    last: [talk(hi, model("so")), talk(hi, { role: "system", content: "x" })],
    "prefix.last": talk(hi, model("so", { prefix: true }), hi),
    "assistant.empty": talk(hi, model(""), hi),
    "assistant.both": talk(hi, model("so", { tool_calls: [call(A)] }), tool(A)),
    "thinking.split": talk(hi, model([thinking, said("so"), thinking]), hi),
    "system.content": talk({ role: "system", content: "" }, hi),
    "tool_call.id_required": {
      ...talk(hi, asking(call(undefined)), tool("", { tool_call_id: undefined })),
    },
    "tool_call.id": talk(hi, asking(call("call_1")), tool("call_1")),
    "tool_call.duplicate": {
      ...talk(hi, asking(call(A), call(A)), tool(A)),
      also: ["counts"],
    },
    counts: [talk(hi, asking(call(A), call(B)), tool(A)), talk(hi, asking(call(A)), hi)],
    "tool.duplicate": talk(hi, asking(call(A)), tool(A), tool(A)),
    "tool.unexpected": talk(hi, asking(call(A)), tool(B)),
    "function.name": talk(hi, asking(call(A, { name: "a b" })), tool(A)),
    "tools.name": { body: request({ tools: [{ ...READ, function: { name: "a b" } }] }, hi) },
  },
});

describe("a Mistral request that was made with care", () => {
  const step = fc.record({ ask: fc.string(), calls: fc.integer({ min: 0, max: 3 }) });

  it("is never refused", () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), (steps) => {
        const messages = steps.flatMap(({ ask, calls }, turn) => {
          const ids = Array.from({ length: calls }, (_, index) =>
            `call${turn}${index}`.padEnd(9, "x"),
          );
          const loop = [asking(...ids.map((id) => call(id))), ...ids.map((id) => tool(id))];
          return [user(ask.toWellFormed()), ...(calls === 0 ? [] : loop), model("So it is.")];
        });
        expect(checkBody(MISTRAL_WIRE, request({ tools: [READ] }, ...messages, hi))).toEqual([]);
      }),
    );
  });
});

describe("what Mistral refuses by its schema", () => {
  it("is answered with 422, and everything else with 400", () => {
    const schema = MISTRAL_WIRE.rules.filter(({ status }) => status === 422).map(({ id }) => id);
    expect(schema.sort()).toEqual(
      `chunk.thinking_role chunk.type content.type function.arguments message.extra model.required
      role.invalid toplevel.extra`.split(/\s+/),
    );
  });
});
