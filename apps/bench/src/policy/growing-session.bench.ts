// What one more turn costs before it is sent, in a short session and in a long one.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { ModelCall } from "@clew/plugin-sdk/host";
import { conversation } from "@clew/plugin-sdk/testing";
import { buildRequest } from "@clew/providers";
import { createTranscriptPolicy } from "@clew/transcript-policy";
import { type BenchCase, type CaseResult, defineBench } from "../runner/bench.ts";

const SHORT = 10;
const LONG = 1_000;
const MORE = 500;
const MESSAGES = 1_000;
const WIRES = [
  ["anthropic", "anthropic-messages", "claude-opus-4-6"],
  ["openai", "openai-responses", "gpt-5.6"],
  ["openai-codex", "openai-chatgpt-responses", "gpt-5.5-codex"],
  ["deepseek", "openai-completions", "deepseek-chat"],
  ["google", "google-generative-ai", "gemini-3-pro-preview"],
  ["amazon-bedrock", "bedrock-converse-stream", "anthropic.claude-sonnet-4-6"],
  ["mistral", "mistral-conversations", "magistral-medium-latest"],
] as const;
type Wire = (typeof WIRES)[number];
const ENDPOINT = { baseUrl: "https://models.example/v1", region: "eu-central-1" };

const modelOf = ([provider, api, id]: Wire) => ({
  ...{ provider, api, id },
  contextWindow: 200_000,
  maxOutputTokens: 8_192,
});

const frozen = (messages: readonly AgentMessage[]) =>
  messages.map((message) => {
    if ("content" in message) Object.freeze(message.content);
    return Object.freeze(message);
  });

const callOf = (wire: Wire, messages: readonly AgentMessage[]): ModelCall => ({
  model: modelOf(wire),
  systemPrompt: "Be brief.",
  messages,
  tools: [],
  signal: new AbortController().signal,
});

/** Servers of their own may count calls from one in every turn. */
const withSameIds = (messages: readonly AgentMessage[]): AgentMessage[] =>
  JSON.parse(JSON.stringify(messages).replace(/"(id|toolCallId)":"[^"]*"/g, '"$1":"call_1"'));

/** A session that grows by a turn at every run; it begins again when it has grown by `MORE`. */
function outboundCase(wire: Wire, turns: number, hasSameIds: boolean): BenchCase {
  return {
    name: turnName(wire, turns, hasSameIds),
    ...(turns !== SHORT && { compareTo: turnName(wire, SHORT, hasSameIds) }),
    prepare() {
      const told = conversation({ turns: turns + MORE, tools: 1 });
      const history = frozen(hasSameIds ? withSameIds(told) : told);
      const model = modelOf(wire);
      let policy = createTranscriptPolicy();
      let end = history.length;
      return {
        run() {
          if (end >= history.length) {
            policy = createTranscriptPolicy();
            end = turns * 4;
            policy.prepareOutbound({ messages: history.slice(0, end), model });
          }
          end += 4;
          return policy.prepareOutbound({ messages: history.slice(0, end), model });
        },
        facts: () => ({ messages: turns * 4 }),
      };
    },
  };
}

const turnName = ([, api]: Wire, turns: number, hasSameIds: boolean): string =>
  `${api}: outbound, turn ${turns}${hasSameIds ? ", the same ids in each" : ""}`;

/** A request of messages that may change, which are written again every time, or of sent ones. */
function requestCase(wire: Wire, isKnown: boolean): BenchCase {
  return {
    name: requestName(wire, isKnown),
    ...(isKnown && { compareTo: requestName(wire, false) }),
    prepare() {
      const all = conversation({ turns: MESSAGES / 4, tools: 1 }).slice(0, MESSAGES);
      const call = callOf(wire, isKnown ? frozen(all) : all);
      const { body } = buildRequest(call, ENDPOINT);
      return { run: () => buildRequest(call, ENDPOINT), facts: () => ({ bytes: body.length }) };
    },
  };
}

const requestName = ([, api]: Wire, isKnown: boolean): string =>
  `${api}: buildRequest, ${MESSAGES} messages ${isKnown ? "sent before" : "for the first time"}`;

export default defineBench({
  name: "growing-session",
  description:
    "policy and request of one more turn; goals: buildRequest of 1,000 messages ≤ 1.5 ms, of an unchanged prefix ≤ 0.1 ms, turn 1,000 ≤ ×1.5 of turn 10",
  cases: WIRES.flatMap((wire) => [
    ...[false, true].flatMap((hasSameIds) =>
      [SHORT, LONG].map((turns) => outboundCase(wire, turns, hasSameIds)),
    ),
    ...[false, true].map((isKnown) => requestCase(wire, isKnown)),
  ]),
  check: (results: ReadonlyMap<string, CaseResult>) =>
    [...results].flatMap(([name, { ratio }]) => {
      const goal = name.includes("outbound") ? 1.5 : 0.1;
      return ratio !== undefined && ratio > goal
        ? [`${name}: ×${ratio.toFixed(2)}; the goal is ×${goal}.`]
        : [];
    }),
});
