// What a Chat Completions server remembers of prompts, and of reasoning it wants back.
import { tokensIn } from "../server/bill.ts";
import { type JsonObject, list, record, text } from "../server/json.ts";
import type { PromptCache, Segment } from "../server/prompt-cache.ts";
import { callsOf, type EmulatedReply } from "../server/reply.ts";
import type { Accepted, Exchange, WireMemory } from "../server/wire.ts";
import { type Carrier, carrierFault, carrierOf } from "./carriers.ts";
import { messages } from "./rules/rule.ts";
import { callId, wordsOf } from "./words.ts";

export interface ChatAccepted extends Accepted {
  carrier: Carrier;
}

/** Servers that want the reasoning of a tool call back with it. */
const WANT_REASONING = new Set(["deepseek", "kimi"]);

export function createMemory(cache: PromptCache): WireMemory<JsonObject, ChatAccepted> {
  /** By id of the call it led to; ids may be used again. */
  const reasoning = new Map<string, Set<unknown>>();
  const details = new Map<string, string>();
  return {
    examine(body, call) {
      const { account, flavor } = call;
      if (flavor !== undefined && WANT_REASONING.has(flavor)) {
        const lost = messages(body).find(({ value }) =>
          callIds(value)
            .map((id) => reasoning.get(id))
            .some((words) => words !== undefined && !words.has(value.reasoning_content)),
        );
        if (lost !== undefined)
          return {
            kind: "refused",
            rule: "reasoning.changed",
            message: `The \`reasoning_content\` in the thinking mode must be passed back to the API. ('${lost.path}')`,
          };
      }
      const carrier = carrierOf(text(body.model), call);
      const fault = carrierFault(body, carrier, details);
      if (fault !== undefined) return { kind: "refused", ...fault };
      const rules = TAKES_MARKS.test(text(body.model)) ? { writes: "marked" as const } : {};
      const prompt = cache.settle(`${account} ${text(body.model)}`, segmentsOf(body), rules);
      return { kind: "accepted", accepted: { prompt, carrier } };
    },
    said(reply: EmulatedReply, { nonce, accepted }: Exchange<ChatAccepted>) {
      const words = wordsOf(reply, "thinking");
      const carrier = accepted?.carrier;
      for (const [position, call] of callsOf(reply).entries()) {
        const id = callId(call, nonce, position);
        if (words !== undefined) reasoning.set(id, (reasoning.get(id) ?? new Set()).add(words));
        if (carrier?.kind === "details" && carrier.maker === "google" && position === 0)
          details.set(id, carrier.sign(id));
      }
    },
  };
}

const callIds = (message: JsonObject) =>
  list(message.tool_calls).map((call) => text(record(call).id));

/** Tools first, then message by message. */
export function segmentsOf(body: JsonObject): Segment[] {
  return [body.tools ?? [], ...list(body.messages)].map((item) => {
    const mark = markIn(item);
    const content = JSON.stringify(withoutMarks(item));
    return {
      content,
      tokens: tokensIn(content.length),
      ...(mark !== undefined && { keepMs: (mark.ttl === "1h" ? 60 : 5) * 60_000 }),
    };
  });
}

/** Makers behind a router that cache up to marks only. */
const TAKES_MARKS = /^(?:openrouter\/)?anthropic\//;

const partsIn = (item: unknown): JsonObject[] => list(record(item).content).map(record);

const markIn = (item: unknown): JsonObject | undefined =>
  partsIn(item)
    .filter(({ cache_control }) => cache_control != null)
    .map(({ cache_control }) => record(cache_control))
    .at(-1);

/** What the model reads: a text is a text, in parts or not. */
function withoutMarks(item: unknown): unknown {
  const { content, ...rest } = record(item);
  if (!Array.isArray(content)) return item;
  const parts = partsIn(item).map(({ cache_control: _mark, ...part }) => part);
  const [only] = parts;
  const isText = parts.length === 1 && only?.type === "text";
  return { ...rest, content: isText ? only.text : parts };
}
