// What a Chat Completions server remembers of prompts, and of reasoning it wants back.

import { tokensIn } from "../server/bill.ts";
import { type JsonObject, list, record, text } from "../server/json.ts";
import type { PromptCache, Segment } from "../server/prompt-cache.ts";
import { callsOf, type EmulatedReply } from "../server/reply.ts";
import type { Accepted, Exchange, WireMemory } from "../server/wire.ts";
import { callId, wordsOf } from "./reply.ts";
import { messages } from "./rules/rule.ts";

/** Servers that want the reasoning of a tool call back with it. */
const WANT_REASONING = new Set(["deepseek", "kimi"]);

export function createMemory(cache: PromptCache): WireMemory<JsonObject, Accepted> {
  /** By id of the call it led to. */
  const reasoning = new Map<string, string>();
  return {
    examine(body, { account, flavor }) {
      if (flavor !== undefined && WANT_REASONING.has(flavor)) {
        const lost = messages(body).find(({ value }) => {
          const had = callIds(value).map((id) => reasoning.get(id));
          return had.some((words) => words !== undefined && words !== value.reasoning_content);
        });
        if (lost !== undefined)
          return {
            kind: "refused",
            rule: "reasoning.changed",
            message: `The \`reasoning_content\` in the thinking mode must be passed back to the API. ('${lost.path}')`,
          };
      }
      const prompt = cache.settle(`${account} ${text(body.model)}`, segmentsOf(body));
      return { kind: "accepted", accepted: { prompt } };
    },
    said(reply: EmulatedReply, { nonce }: Exchange<Accepted>) {
      const words = wordsOf(reply, "thinking");
      if (words === undefined) return;
      for (const [position, call] of callsOf(reply).entries())
        reasoning.set(callId(call, nonce, position), words);
    },
  };
}

const callIds = (message: JsonObject) =>
  list(message.tool_calls).map((call) => text(record(call).id));

/** Tools first, then message by message. */
export function segmentsOf(body: JsonObject): Segment[] {
  return [body.tools ?? [], ...list(body.messages)].map((item) => {
    const content = JSON.stringify(item);
    return { content, tokens: tokensIn(content.length) };
  });
}
