// Random histories of every kind a host may have stored, whole and damaged.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import fc from "fast-check";

const ids = fc.constantFrom(
  "call_1",
  "call_1",
  "call-1",
  "toolu_01AbC",
  "call_a|fc_b",
  "call_a|item9",
  "functions.read:0",
  "abcdefghi",
  "two words: here",
  "उपकरण-1",
  "x".repeat(70),
  " padded ",
  "call12",
);
const names = fc.constantFrom("read", "read", "write", "a.b:c", " write ", "bad name!", "");
const texts = fc.constantFrom(
  "hello",
  "second thought",
  "नमस्ते 👋",
  " ",
  "",
  "half \ud800 character",
  "NO_REPLY",
);
const userTexts = fc.constantFrom("please read it", "and then?", "धन्यवाद", " ", "");
const signatures = fc.constantFrom(
  undefined,
  "",
  "RXZlcnkgc2lnbmF0dXJlIGlzIG9wYXF1ZS4=",
  "not base64!",
  '{"id":"rs_1","type":"reasoning","summary":[]}',
);
const stopReasons = fc.constantFrom("stop", "toolUse", "toolUse", "length", "error", "aborted");
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const record = (shape: Record<string, fc.Arbitrary<unknown>>) =>
  fc.record(shape).map(withoutUndefined);
const withoutUndefined = (value: object) =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined));

const text = record({
  type: fc.constant("text"),
  text: texts,
  thought_signature: maybe(fc.constantFrom("msg_1", "QUJD")),
  textSignature: maybe(fc.constantFrom("msg_1", '{"v":1,"id":"msg_1"}')),
});
const thinking = fc.oneof(
  record({ type: fc.constant("thinking"), thinking: texts, thinkingSignature: signatures }),
  record({ type: fc.constant("thinking"), thinking: texts, signature: signatures }),
  record({ type: fc.constant("redacted_thinking"), data: maybe(fc.constant("b3BhcXVl")) }),
);
const call = record({
  type: fc.constantFrom("toolCall", "toolCall", "toolCall", "toolUse", "functionCall", "tool_use"),
  id: fc.oneof(
    { weight: 9, arbitrary: ids as fc.Arbitrary<unknown> },
    { weight: 1, arbitrary: fc.constantFrom(7, undefined, " ") },
  ),
  name: names,
  arguments: fc.constantFrom<unknown>(
    {},
    { path: "a" },
    { path: "a" },
    "",
    '{"a":1}',
    [1],
    undefined,
  ),
  input: maybe(fc.constant({ path: "b" })),
  partialJson: fc.oneof(
    { weight: 9, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constant('{"a"') },
  ),
});
const image = fc.constantFrom(
  {
    type: "image",
    data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mM4IScHAAK2AQUKW6YGAAAAAElFTkSuQmCC",
    mimeType: "image/png",
  },
  { type: "image", data: "%%%", mimeType: "image/png" },
  { type: "image", data: "aGVsbG8=", mimeType: "image/bmp" },
);
const strange = fc.constantFrom<unknown>(
  null,
  { type: "provider", api: "x", provider: "y", model: "z", kind: "search", data: { q: "a" } },
  { type: "provider", kind: "half" },
  { type: "thinking", thinking: "hm", carrier: "reasoning_details", carried: [{ index: 0 }] },
  { type: "audio", data: "x" },
  { type: "image", data: "x", mimeType: "image/png" },
);
const timestamp = maybe(fc.constantFrom<unknown>(10, 60, 150, "2026-01-01T00:00:00Z"));

const assistant = record({
  role: fc.constant("assistant"),
  content: fc.oneof(
    {
      weight: 9,
      arbitrary: fc.array(
        fc.oneof(
          { weight: 3, arbitrary: text },
          { weight: 3, arbitrary: call },
          { weight: 2, arbitrary: thinking },
          { weight: 1, arbitrary: strange },
        ),
        { maxLength: 4 },
      ) as fc.Arbitrary<unknown>,
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom<unknown>("plain", "", null, { type: "text", text: "single" }),
    },
  ),
  stopReason: stopReasons,
  api: maybe(fc.constantFrom("anthropic-messages", "openai-responses", "google-generative-ai")),
  provider: maybe(fc.constantFrom("anthropic", "openrouter", "acme")),
  model: maybe(fc.constantFrom("claude-opus-4-6", "gpt-5.5")),
  account: maybe(fc.constantFrom("aaaaaaaaaaaa", "bbbbbbbbbbbb")),
  usage: maybe(fc.constantFrom({ input: 0, output: 0 }, { input: 5, output: 1 })),
  timestamp,
});
const userContent = fc.oneof(
  userTexts as fc.Arbitrary<unknown>,
  fc.array(fc.oneof(record({ type: fc.constant("text"), text: userTexts }), image), {
    maxLength: 3,
  }),
);
const user = record({
  role: fc.constant("user"),
  content: userContent,
  provenance: fc.oneof(
    { weight: 5, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constant({ kind: "inter_session", sourceTool: "x" }) },
  ),
  timestamp,
});
const custom = record({ role: fc.constant("custom"), content: userContent, timestamp });
const resultIdField = fc.constantFrom("toolCallId", "toolCallId", "toolUseId", "call_id", "none");
const result = fc
  .record({
    field: resultIdField,
    id: ids,
    rest: record({
      role: fc.constant("toolResult"),
      toolName: maybe(names),
      content: fc.oneof(
        {
          weight: 5,
          arbitrary: fc.array(fc.oneof(record({ type: fc.constant("text"), text: texts }), image), {
            maxLength: 2,
          }) as fc.Arbitrary<unknown>,
        },
        { weight: 1, arbitrary: fc.constantFrom<unknown>("a string", null) },
      ),
      isError: maybe(fc.boolean()),
      details: maybe(fc.constant({ exitCode: 0 })),
      timestamp,
    }),
  })
  .map(({ field, id, rest }) => (field === "none" ? rest : { ...rest, [field]: id }));
const other = fc.constantFrom<unknown>(
  { role: "compactionSummary", summary: "Earlier talk.", tokensBefore: 9, timestamp: 100 },
  { role: "bashExecution", command: "ls", output: "a" },
  { role: "bashExecution", command: "ls", output: "a", excludeFromContext: true },
  {
    role: "assistant",
    content: [{ type: "text", text: "copy" }],
    stopReason: "stop",
    provider: "openclaw",
    model: "delivery-mirror",
  },
  { role: "somebody", content: "?" },
  null,
);

const message = fc.oneof(
  { weight: 4, arbitrary: assistant as fc.Arbitrary<unknown> },
  { weight: 3, arbitrary: user },
  { weight: 4, arbitrary: result },
  { weight: 1, arbitrary: other },
  { weight: 1, arbitrary: custom as fc.Arbitrary<unknown> },
);

/** A history no host should have stored, and some host did. */
export const histories = fc
  .array(message, { maxLength: 14 })
  .map((messages) => messages as AgentMessage[]);

/** The value with every object inside it frozen, so that a change to the input throws. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
