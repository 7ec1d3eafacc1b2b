// A scripted reply as Chat Completions chunks, or as one document.
import {
  argumentsText,
  blocksOf,
  callsOf,
  type EmulatedReply,
  pieces,
  type ScriptedCall,
} from "../server/reply.ts";
import { type Exchange, type Frames, sse } from "../server/wire.ts";
import type { Carrier } from "./carriers.ts";
import type { ChatAccepted } from "./memory.ts";
import { besideCall, callId, carried, wordsOf } from "./words.ts";

type ChatExchange = Exchange<ChatAccepted>;

/** Chunks, one event each. */
export function frames(reply: EmulatedReply, exchange: ChatExchange): Frames {
  const base = {
    id: `chatcmpl-${exchange.nonce}`,
    object: "chat.completion.chunk",
    created: 0,
    model: exchange.model,
  };
  const delta = (value: object) => ({
    ...base,
    choices: [{ index: 0, delta: value, finish_reason: null }],
  });
  const carrier = exchange.accepted?.carrier;
  let calls = 0;
  const said = blocksOf(reply).flatMap((block) => {
    switch (block.type) {
      case "thinking":
        return [
          ...pieces(block.text, reply).map((piece) => delta(carried(carrier, piece, false))),
          ...signatureOf(carrier, block.text).map((signed) => delta(signed)),
        ];
      case "text":
        return pieces(block.text, reply).map((piece) => delta({ content: piece }));
      case "call": {
        const index = calls++;
        const { arguments: _none, ...opened } = functionOf(block);
        const id = callId(block, exchange.nonce, index);
        const beside = index === 0 ? besideCall(carrier, id) : NOTHING_BESIDE;
        const head = { id, type: "function", ...beside.call };
        return [
          ...(beside.details.length > 0 ? [delta({ reasoning_details: beside.details })] : []),
          delta({
            tool_calls: [{ index, ...head, function: { ...opened, arguments: "" } }],
          }),
          ...pieces(argumentsText(block), reply).map((piece) =>
            delta({ tool_calls: [{ index, function: { arguments: piece } }] }),
          ),
        ];
      }
    }
    return [];
  });
  const started = [delta({ role: "assistant", content: "" }), ...said];
  const usage = usageOf(exchange);
  const ending = [
    { ...base, choices: [{ index: 0, delta: {}, finish_reason: finishReason(reply) }] },
    ...(usage === undefined ? [] : [{ ...base, choices: [], usage }]),
  ];
  return {
    frames: [...[...started, ...ending].map((chunk) => sse(chunk)), "data: [DONE]\n\n"],
    end: started.length,
  };
}

export function document(reply: EmulatedReply, exchange: ChatExchange): object {
  const carrier = exchange.accepted?.carrier;
  const made = callsOf(reply);
  const beside =
    made[0] === undefined
      ? NOTHING_BESIDE
      : besideCall(carrier, callId(made[0], exchange.nonce, 0));
  const calls = made.map((call, index) => ({
    id: callId(call, exchange.nonce, index),
    type: "function",
    function: functionOf(call),
    ...(index === 0 && beside.call),
  }));
  const thinking = wordsOf(reply, "thinking");
  const reasoning: { reasoning_details?: object[] } =
    thinking === undefined ? {} : carried(carrier, thinking, true);
  const details = [...(reasoning.reasoning_details ?? []), ...beside.details];
  const message = {
    role: "assistant",
    content: wordsOf(reply, "text") ?? null,
    ...reasoning,
    ...(details.length > 0 && { reasoning_details: details }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  const usage = usageOf(exchange);
  return {
    id: `chatcmpl-${exchange.nonce}`,
    object: "chat.completion",
    created: 0,
    model: exchange.model,
    choices: [{ index: 0, message, finish_reason: finishReason(reply) }],
    ...(usage !== undefined && { usage }),
  };
}

const NOTHING_BESIDE = { call: {}, details: [] };

/** A signature comes by itself, behind the words; clients join it to them. */
function signatureOf(carrier: Carrier | undefined, words: string): object[] {
  if (carrier?.kind !== "details" || carrier.maker !== "anthropic") return [];
  const signature = carrier.sign(words);
  return [{ reasoning_details: [{ type: "reasoning.text", signature, index: 0 }] }];
}

const functionOf = (call: ScriptedCall) => ({ name: call.name, arguments: argumentsText(call) });

const finishReason = (reply: EmulatedReply) =>
  reply.finishReason ?? (callsOf(reply).length > 0 ? "tool_calls" : "stop");

function usageOf({ usage }: ChatExchange): object | undefined {
  if (usage === null) return undefined;
  const { fresh, read, written, writtenLong, output, thinking } = usage;
  const prompt = fresh + read + written + writtenLong;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: read },
    completion_tokens_details: { reasoning_tokens: thinking },
  };
}
