// The checks of a model's provider, as data.
import type { AgentMessage, AssistantMessage } from "@clew/plugin-sdk/core";
import type { ModelCall, ModelProfile } from "@clew/plugin-sdk/host";
import {
  asked,
  type Check,
  type Given,
  result,
  resultsOf,
  type Step,
  said,
  user,
} from "./check.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mM4IScHAAK2AQUKW6YGAAAAAElFTkSuQmCC";
const image = { type: "image" as const, data: PNG, mimeType: "image/png" };
export const LOOK = {
  name: "look",
  description: "Tells what is in a file.",
  parameters: {
    type: "object",
    properties: { path: { type: "string" } },
    required: ["path"],
  },
};
const SCHEMA = {
  type: "object",
  properties: { word: { type: "string" } },
  required: ["word"],
  additionalProperties: false,
};

const HELLO = user("Say hello.");
/** A model may not do it; an emulated one does. */
export const PLEASE_LOOK = "Call the tool look with the path a.";
const look = user(PLEASE_LOOK);
const tools = [LOOK];
const forced: Partial<ModelCall> = { tools, toolChoice: { name: "look" } };
const thinks: Partial<ModelCall> = {
  reasoning: { effort: "low", display: "summary" },
  maxOutputTokens: 3000,
};

const once = (messages: readonly AgentMessage[], more?: Partial<ModelCall>): Step[] => [
  { messages: () => messages, ...(more !== undefined && { more }) },
];
const given = (messages: Step["messages"], more: Partial<ModelCall> = { tools }): Step[] => [
  { messages, more },
];
const thinking: Step = { messages: () => [user("How much is 17 times 23?")], more: thinks };
/** Goes on behind what the model thought and said, `change`d. */
const thenMore = (change: (reply: AssistantMessage) => AgentMessage, more = thinks): Step => ({
  messages: ({ replies }) => [
    user("How much is 17 times 23?"),
    ...replies.map(change),
    user("And 18 times 23?"),
  ],
  more,
});
const changingProofs =
  (change: (proof: string) => string) =>
  (reply: AssistantMessage): AssistantMessage => ({
    ...reply,
    content: reply.content.map((block) =>
      block.type === "thinking" && block.thinkingSignature !== undefined
        ? { ...block, thinkingSignature: change(block.thinkingSignature) }
        : block,
    ),
  });

const canThink = ({ reasoning }: ModelProfile) => reasoning.ask !== "none";
const isSigned = (profile: ModelProfile) =>
  canThink(profile) && /^(?:signed|item)$/.test(profile.reasoning.carrier);
const canForce = ({ calls }: ModelProfile) => calls.canForce;
const caches = ({ cache }: ModelProfile) => cache.how !== "none";
const hasCall = ({ content }: AssistantMessage) => ({
  "calls a tool": content.some(({ type }) => type === "toolCall"),
});
const isBilled = ({ usage }: AssistantMessage) => ({
  "tells tokens": (usage?.input ?? 0) + (usage?.cacheRead ?? 0) + (usage?.cacheWrite ?? 0) > 0,
});
/** Above what any provider needs to keep a prompt. */
const LONG = "The tide was high and the harbour full of boats. ".repeat(500);
const cached: Partial<ModelCall> = { systemPrompt: LONG, sessionId: "deep-test" };

/** Two steps: the model calls, and is given the result beside what it thought. */
const loop = (change: (reply: AssistantMessage) => AgentMessage): Step[] => [
  { messages: () => [look], more: { ...thinks, tools } },
  {
    messages: ({ replies }) => [look, ...replies.map(change), ...replies.flatMap(resultsOf)],
    more: { ...thinks, tools },
    needs: hasCall,
  },
];
const same = (reply: AssistantMessage) => reply;
const withoutThoughts = (reply: AssistantMessage): AssistantMessage => ({
  ...reply,
  content: reply.content.filter(({ type }) => type !== "thinking" && type !== "redacted_thinking"),
});

const pair = ({ id }: Given) => [asked(id(1)), result(id(1))];

export const CHECKS: readonly Check[] = [
  { id: "text", title: "a question", steps: once([HELLO]), shows: isBilled },
  { id: "turns", title: "several turns", steps: once([HELLO, said("Hello."), user("Again.")]) },
  { id: "unicode", title: "every script", steps: once([user("Say नमस्ते 👋 and 你好.")]) },
  { id: "no-system", title: "no system prompt", steps: once([HELLO], { systemPrompt: "" }) },
  { id: "short", title: "a reply of few tokens", steps: once([HELLO], { maxOutputTokens: 16 }) },
  { id: "temperature", title: "a temperature", steps: once([HELLO], { temperature: 0.5 }) },
  { id: "tool", title: "a tool that may be called", steps: once([HELLO], { tools }) },
  {
    ...{ id: "tool-forced", title: "a tool that must be called", applies: canForce },
    ...{ steps: once([look], forced), shows: hasCall },
  },
  {
    ...{ id: "tool-required", title: "any tool that must be called", applies: canForce },
    ...{ steps: once([look], { tools, toolChoice: "required" }), shows: hasCall },
  },
  {
    ...{ id: "tool-none", title: "tools that may not be called" },
    ...{ steps: once([HELLO], { tools, toolChoice: "none" }), shows: hasCall },
  },
  {
    ...{ id: "tool-one", title: "one call at a time" },
    steps: once([HELLO], { tools, parallelToolCalls: false }),
  },
  {
    id: "tool-union",
    title: "a tool whose arguments are one of two objects",
    steps: once([HELLO], { tools: [{ ...LOOK, parameters: { anyOf: [SCHEMA, SCHEMA] } }] }),
  },
  { id: "result", title: "a result", steps: given((all) => [look, ...pair(all)]) },
  {
    id: "results",
    title: "two results of one reply",
    steps: given(({ id }) => [look, asked(id(1), id(2)), result(id(1)), result(id(2))]),
  },
  {
    id: "result-failed",
    title: "a failed result",
    steps: given(({ id }) => [look, asked(id(1)), result(id(1), "No such file.", true)]),
  },
  {
    id: "result-empty",
    title: "a result that says nothing",
    steps: given(({ id }) => [look, asked(id(1)), result(id(1), "")]),
  },
  {
    id: "result-image",
    title: "a result with a picture",
    steps: given(({ id }) => [
      look,
      asked(id(1)),
      { ...result(id(1)), content: [{ type: "text", text: "Look:" }, image] },
    ]),
  },
  {
    id: "result-steered",
    title: "a person right behind a result",
    steps: given((all) => [look, ...pair(all), user("Stop. Say hello.")]),
  },
  {
    id: "result-no-tools",
    title: "a result, where no tool is offered any more",
    steps: given((all) => [look, ...pair(all), user("Say hello.")], {}),
  },
  {
    id: "image",
    title: "a picture",
    steps: once([{ role: "user", content: [{ type: "text", text: "What is it?" }, image] }]),
  },
  {
    id: "json",
    title: "a reply that is JSON",
    steps: once([user("Say hello, as JSON.")], { responseFormat: { type: "json" } }),
  },
  {
    id: "json-schema",
    title: "a reply that fits a schema",
    steps: once([user("Say hello, as JSON.")], {
      responseFormat: { type: "json_schema", name: "word", schema: SCHEMA },
    }),
  },
  {
    ...{ id: "thinking", title: "thinking", applies: canThink, steps: [thinking] },
  },
  {
    ...{ id: "thinking-off", title: "no thinking" },
    applies: (profile) => canThink(profile) && profile.reasoning.canStop,
    steps: once([HELLO], { reasoning: { effort: "off" } }),
  },
  {
    ...{ id: "thinking-kept", title: "its own thinking in the next turn", applies: canThink },
    steps: [thinking, thenMore(same)],
  },
  {
    ...{ id: "thinking-gone", title: "the next turn without it", applies: canThink },
    steps: [thinking, thenMore(withoutThoughts)],
  },
  {
    ...{ id: "thinking-cut", title: "a proof of thinking that was cut", applies: isSigned },
    steps: [thinking, thenMore(changingProofs((proof) => `${proof.slice(0, -20)}"}`))],
  },
  {
    ...{ id: "thinking-moved", title: "thinking under another system prompt", applies: isSigned },
    steps: [thinking, thenMore(same, { ...thinks, systemPrompt: "Be verbose." })],
  },
  {
    ...{ id: "loop", title: "thinking between a call and its result", applies: canThink },
    steps: loop(same),
  },
  {
    ...{ id: "loop-gone", title: "a call and its result without it", applies: canThink },
    steps: loop(withoutThoughts),
  },
  {
    ...{ id: "cache", title: "a long prompt that is sent twice", applies: caches },
    steps: [...once([HELLO], cached), ...once([HELLO], cached)],
  },
  {
    ...{ id: "cache-long", title: "a prompt kept for long", applies: caches },
    steps: once([HELLO], { ...cached, cache: { retention: "long" } }),
  },
  {
    id: "orphan",
    title: "a result without its call",
    steps: given(({ id }) => [HELLO, said("Hello."), result(id(1)), user("Again.")]),
  },
  {
    id: "unanswered",
    title: "a call without its result",
    steps: given(({ id }) => [look, asked(id(1)), user("Say hello.")]),
  },
  {
    id: "twice",
    title: "two results of one call",
    steps: given((all) => [look, ...pair(all), result(all.id(1), "Again.")]),
  },
  {
    id: "id-repeated",
    title: "two calls of one id",
    steps: given((all) => [look, ...pair(all), said("One."), look, ...pair(all)]),
  },
  {
    id: "id-odd",
    title: "an id that is no word",
    steps: given(() => [look, asked("a b|c"), result("a b|c")]),
  },
  { id: "users", title: "two users in a row", steps: once([HELLO, user("Say it twice.")]) },
  { id: "assistant-first", title: "a model that speaks first", steps: once([said("Hi."), HELLO]) },
  { id: "prefill", title: "a history that ends with the model", steps: once([HELLO, said("Hel")]) },
];
