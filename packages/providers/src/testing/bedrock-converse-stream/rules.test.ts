import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { describeRules } from "../__fixtures__/rule-table.ts";
import { checkBody } from "../server/check.ts";
import { CONVERSE_WIRE } from "./wire.ts";

const CLAUDE = "/model/us.anthropic.claude-opus-4-5-v1:0/converse-stream";
const NOVA = "/model/amazon.nova-pro-v1:0/converse-stream";
const LLAMA = "/model/us.meta.llama3-3-70b-instruct-v1:0/converse-stream";
const ALWAYS = "/model/us.anthropic.claude-opus-5-5-v1:0/converse-stream";
const user = (...content: object[]) => ({ role: "user", content });
const model = (...content: object[]) => ({ role: "assistant", content });
const said = (text: string) => ({ text });
const use = (toolUseId: string, change: object = {}) => ({
  toolUse: { toolUseId, name: "read", input: {}, ...change },
});
const result = (toolUseId: string, change: object = {}) => ({
  toolResult: { toolUseId, content: [said("done")], ...change },
});
const reasoning = (change: object = { signature: "s" }) => ({
  reasoningContent: { reasoningText: { text: "hm", ...change } },
});
const image = (bytes = "iVBORw0KGgo=") => ({ image: { format: "png", source: { bytes } } });
const document = { document: { format: "pdf", name: "a", source: { bytes: "AAAA" } } };
const MARK = { cachePoint: { type: "default" } };
const LONG_MARK = { cachePoint: { type: "default", ttl: "1h" } };
const hi = user(said("hi"));
const toolConfig = {
  tools: [{ toolSpec: { name: "read", inputSchema: { json: { type: "object" } } } }],
};
const own = (fields: object) => ({ additionalModelRequestFields: fields });
const THINKS = own({ thinking: { type: "enabled", budget_tokens: 2000 } });
const choosing = (toolChoice: object) => ({ toolConfig: { ...toolConfig, toolChoice } });

const on = (path: string, change: object, ...messages: object[]) => ({
  body: { messages, toolConfig, ...change },
  path,
});
const talk = (...messages: object[]) => on(CLAUDE, {}, ...messages);
const asked = (...calls: object[]) => [hi, model(...calls)];

describeRules({
  wire: CONVERSE_WIRE,
  good: [
    on(
      CLAUDE,
      { system: [said("Be brief."), LONG_MARK], ...THINKS },
      user(said("look"), image(), document),
      model(reasoning(), said("so"), use("a"), use("b")),
      user(
        result("b", { status: "error" }),
        result("a", { content: [image(), { json: {} }] }),
        said("x"),
        MARK,
      ),
    ),
    on(NOVA, {}, hi, model(reasoning({}), use("a")), user(result("a"))),
    on(NOVA, { system: [said("Be brief."), MARK] }, user(said("hi"), MARK)),
    on(NOVA, choosing({ any: {} }), hi),
    on(LLAMA.replace(/-stream$/, ""), {}, hi),
    on(CLAUDE, own({ tool_choice: { type: "none" } }), hi),
    talk(hi, model(said("so"))),
  ],
  broken: {
    "toplevel.unknown": on(CLAUDE, { foo: 1 }, hi),
    "messages.empty": talk(),
    "role.invalid": talk({ role: "system", content: [said("x")] }),
    "first.user": talk(model(said("x")), hi),
    "roles.alternate": talk(hi, hi),
    "last.user": [
      on(NOVA, {}, hi, model(said("x"))),
      on("/model/anthropic.claude-opus-4-6/converse", {}, hi, model(said("x"))),
    ],
    "system.blank": on(CLAUDE, { system: [said(" ")] }, hi),
    "toolConfig.empty": on(CLAUDE, { toolConfig: { tools: [] } }, hi),
    "toolConfig.spec": [
      { name: "a b", inputSchema: { json: {} } },
      { name: "read", inputSchema: {} },
      { name: "read", inputSchema: { json: {} }, description: "" },
    ].map((toolSpec) => on(CLAUDE, { toolConfig: { tools: [{ toolSpec }] } }, hi)),
    "toolConfig.required": on(
      CLAUDE,
      { toolConfig: undefined },
      ...asked(use("a")),
      user(result("a")),
    ),
    "cachePoint.max": talk(
      user(said("x"), MARK, said("x"), MARK, said("x"), MARK, said("x"), MARK, said("x"), MARK),
    ),
    "cachePoint.alone": talk(user(MARK)),
    "cachePoint.after_reasoning": talk(hi, model(reasoning(), MARK, said("x")), hi),
    "cachePoint.ttl_order": talk(user(said("x"), MARK, said("y"), LONG_MARK)),
    "unicode.surrogate": talk(user(said("\ud800"))),
    "content.empty": talk(user()),
    "block.union": [talk(user({ ...said("x"), ...image() })), talk(user({ thinking: {} }))],
    "block.role": talk(user(said("x"), reasoning())),
    "text.blank": talk(user(said(" \n"))),
    "image.shape": talk(user({ image: { format: "bmp", source: { bytes: "AAAA" } } })),
    "image.size": talk(user(image("A".repeat(6 * 2 ** 20)))),
    "image.count": talk(user(...Array.from({ length: 21 }, () => image()))),
    "document.needs_text": talk(user(document)),
    "reasoning.shape": on(NOVA, {}, hi, model({ reasoningContent: {} }, said("x")), hi),
    "reasoning.signature": talk(hi, model(reasoning({}), said("x")), hi),
    "reasoning.signature_foreign": on(NOVA, {}, hi, model(reasoning(), said("x")), hi),
    "reasoning.must_lead": on(CLAUDE, THINKS, ...asked(use("a")), user(result("a"))),
    "reasoning.must_not_end": talk(hi, model(said("x"), reasoning()), hi),
    "toolUse.id": [
      talk(...asked(use("a|b")), user(result("a|b"))),
      talk(...asked(use("a".repeat(65))), user(result("a".repeat(65)))),
    ],
    "toolUse.name": talk(...asked(use("a", { name: "a b" })), user(result("a"))),
    "toolUse.input": talk(...asked(use("a", { input: "{}" })), user(result("a"))),
    "toolUse.duplicate": talk(...asked(use("a"), use("a")), user(result("a"))),
    "toolUse.unanswered": [
      talk(...asked(use("a"), use("b")), user(result("a"))),
      talk(...asked(use("a")), hi),
    ],
    "toolResult.extra": talk(user(result("a"))),
    "toolResult.duplicate": talk(...asked(use("a")), user(result("a"), result("a"))),
    "toolResult.error_empty": talk(
      ...asked(use("a")),
      user(result("a", { status: "error", content: [] })),
    ),
    "toolResult.content": talk(...asked(use("a")), user(result("a", { content: "done" }))),
    "toolResult.empty": talk(...asked(use("a")), user(result("a", { content: [] }))),
    "toolResult.error_text_only": talk(
      ...asked(use("a")),
      user(result("a", { status: "error", content: [image()] })),
    ),
    "cachePoint.model": [
      on(NOVA, { toolConfig: { tools: [...toolConfig.tools, MARK] } }, hi),
      on(NOVA, {}, ...asked(use("a")), user(result("a"), MARK)),
      on(LLAMA.replace(/-stream$/, ""), { system: [said("x"), MARK] }, hi),
    ],
    "toolConfig.streaming": on(LLAMA, {}, hi),
    "toolChoice.model": [
      on(LLAMA.replace(/-stream$/, ""), choosing({ any: {} }), hi),
      on(ALWAYS, choosing({ tool: { name: "read" } }), hi),
    ],
    "toolChoice.twice": on(
      CLAUDE,
      { ...choosing({ any: {} }), ...own({ tool_choice: { type: "auto" } }) },
      hi,
    ),
    "thinking.model": [
      on(NOVA, THINKS, hi),
      on(ALWAYS, THINKS, hi),
      on(ALWAYS, own({ thinking: { type: "disabled" } }), hi),
    ],
    "thinking.budget": [
      on(CLAUDE, own({ thinking: { type: "enabled", budget_tokens: 100 } }), hi),
      on(CLAUDE, { ...THINKS, inferenceConfig: { maxTokens: 2000 } }, hi),
    ],
    "thinking.temperature": on(CLAUDE, { ...THINKS, inferenceConfig: { temperature: 0 } }, hi),
    "thinking.tool_choice": on(CLAUDE, { ...THINKS, ...choosing({ any: {} }) }, hi),
    "reasoningConfig.high": on(
      NOVA,
      {
        ...own({ reasoningConfig: { type: "enabled", maxReasoningEffort: "high" } }),
        inferenceConfig: { maxTokens: 10 },
      },
      hi,
    ),
    "mixed.turn": on(NOVA, {}, ...asked(use("a")), user(result("a"), said("x"))),
    "document.empty_key": talk(
      ...asked(use("a", { input: { b: [{ "": 1 }] } })),
      user(result("a")),
    ),
  },
});

describe("a Converse request that was made with care", () => {
  const step = fc.record({ ask: fc.string(), calls: fc.integer({ min: 0, max: 3 }) });

  it("is never refused", () => {
    fc.assert(
      fc.property(
        fc.array(step, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        (steps, isClaude) => {
          const messages = steps.flatMap(({ ask, calls }, turn) => {
            const ids = Array.from({ length: calls }, (_, index) => `${turn}_${index}`);
            const loop = [
              model(reasoning(isClaude ? { signature: "s" } : {}), ...ids.map((id) => use(id))),
              user(...ids.map((id) => result(id))),
            ];
            return [
              user(said(`${ask.toWellFormed()}.`)),
              ...(calls === 0 ? [] : loop),
              model(said("So it is.")),
            ];
          });
          const { body, path } = on(isClaude ? CLAUDE : NOVA, {}, ...messages, hi);
          expect(checkBody(CONVERSE_WIRE, body, { path })).toEqual([]);
        },
      ),
    );
  });
});
