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
const MODEL = {
  provider: "deepseek",
  api: "openai-completions",
  id: "deepseek-chat",
  contextWindow: 128_000,
  maxOutputTokens: 8_192,
};
const ENDPOINT = { baseUrl: "https://api.deepseek.com/v1" };

const frozen = (messages: readonly AgentMessage[]) =>
  messages.map((message) => {
    if ("content" in message) Object.freeze(message.content);
    return Object.freeze(message);
  });

const callOf = (messages: readonly AgentMessage[]): ModelCall => ({
  model: MODEL,
  systemPrompt: "Be brief.",
  messages,
  tools: [],
  signal: new AbortController().signal,
});

/** A session that grows by a turn at every run; it begins again when it has grown by `MORE`. */
function outboundCase(name: string, turns: number, compareTo?: string): BenchCase {
  return {
    name,
    ...(compareTo !== undefined && { compareTo }),
    prepare() {
      const history = frozen(conversation({ turns: turns + MORE, tools: 1 }));
      let policy = createTranscriptPolicy();
      let end = history.length;
      return {
        run() {
          if (end >= history.length) {
            policy = createTranscriptPolicy();
            end = turns * 4;
            policy.prepareOutbound({ messages: history.slice(0, end), model: MODEL });
          }
          end += 4;
          return policy.prepareOutbound({ messages: history.slice(0, end), model: MODEL });
        },
        facts: () => ({ messages: turns * 4 }),
      };
    },
  };
}

const FIRST = `buildRequest, ${MESSAGES} messages for the first time`;
const AGAIN = `buildRequest, ${MESSAGES} messages that were sent before`;
const [TENTH, THOUSANDTH] = [SHORT, LONG].map((turns) => `outbound, turn ${turns}`) as [
  string,
  string,
];

export default defineBench({
  name: "growing-session",
  description:
    "policy and request of one more turn; goals: buildRequest of 1,000 messages ≤ 1.5 ms, of an unchanged prefix ≤ 0.1 ms, turn 1,000 ≤ ×1.5 of turn 10",
  cases: [
    outboundCase(TENTH, SHORT),
    outboundCase(THOUSANDTH, LONG, TENTH),
    {
      name: FIRST,
      prepare() {
        // Messages that may change are written again every time.
        const call = callOf(conversation({ turns: MESSAGES / 4, tools: 1 }).slice(0, MESSAGES));
        return {
          run: () => buildRequest(call, ENDPOINT),
          facts: () => ({ bytes: buildRequest(call, ENDPOINT).body.length }),
        };
      },
    },
    {
      name: AGAIN,
      compareTo: FIRST,
      prepare() {
        const all = conversation({ turns: MESSAGES / 4, tools: 1 }).slice(0, MESSAGES);
        const call = callOf(frozen(all));
        buildRequest(call, ENDPOINT);
        return { run: () => buildRequest(call, ENDPOINT) };
      },
    },
  ],
  check(results: ReadonlyMap<string, CaseResult>) {
    const [turns, again] = [results.get(THOUSANDTH)?.ratio, results.get(AGAIN)?.ratio];
    return [
      ...(turns !== undefined && turns > 1.5
        ? [`One more turn takes ×${turns.toFixed(1)} in turn 1,000; the goal is ×1.5.`]
        : []),
      ...(again !== undefined && again > 0.1
        ? [`What was sent before takes ×${again.toFixed(2)} of the first time; the goal is ×0.1.`]
        : []),
    ];
  },
});
