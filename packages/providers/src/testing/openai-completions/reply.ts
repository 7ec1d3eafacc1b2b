// A scripted reply as Chat Completions chunks, or as one document.
import {
  argumentsText,
  blocksOf,
  callsOf,
  type EmulatedReply,
  pieces,
  type ScriptedCall,
} from "../server/reply.ts";
import { type Accepted, type Exchange, type Frames, sse } from "../server/wire.ts";

type ChatExchange = Exchange<Accepted>;

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
  let calls = 0;
  const said = blocksOf(reply).flatMap((block) => {
    switch (block.type) {
      case "thinking":
        return pieces(block.text, reply).map((piece) => delta({ reasoning_content: piece }));
      case "text":
        return pieces(block.text, reply).map((piece) => delta({ content: piece }));
      case "call": {
        const index = calls++;
        const { arguments: _none, ...opened } = functionOf(block);
        const head = { id: callId(block, exchange.nonce, index), type: "function" };
        return [
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
  const calls = callsOf(reply).map((call, index) => ({
    id: callId(call, exchange.nonce, index),
    type: "function",
    function: functionOf(call),
  }));
  const thinking = wordsOf(reply, "thinking");
  const message = {
    role: "assistant",
    content: wordsOf(reply, "text") ?? null,
    ...(thinking !== undefined && { reasoning_content: thinking }),
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

export const callId = (call: ScriptedCall, nonce: string, index: number): string =>
  call.id ?? `call_emulated_${nonce}_${index}`;

/** All words of one kind; undefined = there are none. */
export function wordsOf(reply: EmulatedReply, type: "text" | "thinking"): string | undefined {
  const found = blocksOf(reply).flatMap((block) => (block.type === type ? [block.text] : []));
  return found.length === 0 ? undefined : found.join("");
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
