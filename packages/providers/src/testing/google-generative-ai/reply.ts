// A scripted reply as Gemini's chunks, or as one response.
import {
  argumentsObject,
  blocksOf,
  type EmulatedReply,
  pieces,
  type ReplyBlock,
} from "../server/reply.ts";
import { type Exchange, type Frames, sse } from "../server/wire.ts";
import type { GeminiAccepted } from "./memory.ts";

type GeminiExchange = Exchange<GeminiAccepted>;

export function document(reply: EmulatedReply, exchange: GeminiExchange): object {
  const parts = saidParts(reply, exchange).flatMap(({ parts: whole }) =>
    whole({ inPieces: false }),
  );
  return response(exchange, parts, { finishReason: finishReason(reply) });
}

export function frames(reply: EmulatedReply, exchange: GeminiExchange): Frames {
  const chunks = chunksOf(reply, exchange);
  return { frames: chunks.map((chunk) => sse(chunk)), end: chunks.length - 1 };
}

/** The end is a chunk of its own, with the signature of a text if there is one. */
export function chunksOf(reply: EmulatedReply, exchange: GeminiExchange): object[] {
  const said = saidParts(reply, exchange);
  const started = said.flatMap(({ parts }) => parts({ inPieces: true }));
  const ending = said.flatMap(({ last }) => last ?? []);
  return [
    ...started.map((part) => response(exchange, [part])),
    response(exchange, [...ending, ...(ending.length === 0 ? [{ text: "" }] : [])], {
      finishReason: finishReason(reply),
    }),
  ];
}

interface Said {
  parts(how: { inPieces: boolean }): object[];
  /** Streamed behind everything else. */
  last?: object;
}

function saidParts(reply: EmulatedReply, { accepted, model, nonce }: GeminiExchange): Said[] {
  const blocks = blocksOf(reply);
  const lastText = blocks.findLastIndex(({ type }) => type === "text");
  const firstCall = blocks.findIndex(({ type }) => type === "call");
  const sign = (block: ReplyBlock) => accepted?.sign(JSON.stringify(block)) ?? "";
  const say = (block: ReplyBlock, place: number): Said => {
    switch (block.type) {
      case "thinking":
        return {
          parts: ({ inPieces }) =>
            block.redacted
              ? []
              : (inPieces ? pieces(block.text, reply) : [block.text]).map((text) => ({
                  text,
                  thought: true,
                })),
        };
      case "text": {
        const thoughtSignature = sign(block);
        if (place !== lastText || firstCall >= 0 || thoughtSignature === "")
          return {
            parts: ({ inPieces }) =>
              (inPieces ? pieces(block.text, reply) : [block.text]).map((text) => ({ text })),
          };
        return {
          parts: ({ inPieces }) =>
            inPieces
              ? pieces(block.text, reply).map((text) => ({ text }))
              : [{ text: block.text, thoughtSignature }],
          last: { text: "", thoughtSignature },
        };
      }
      case "call": {
        const id = block.id ?? (/^gemini-[3-9]/.test(model) ? `${nonce}${place}` : undefined);
        const functionCall = {
          name: block.name,
          args: argumentsObject(block),
          ...(id !== undefined && { id }),
        };
        // Of calls made at once the first alone is signed.
        const thoughtSignature = place === firstCall ? sign(block) : "";
        const part = { functionCall, ...(thoughtSignature !== "" && { thoughtSignature }) };
        return { parts: () => [part] };
      }
    }
  };
  return blocks.map(say);
}

const finishReason = (reply: EmulatedReply) => reply.finishReason ?? "STOP";

function response(exchange: GeminiExchange, parts: object[], end: object = {}): object {
  return {
    candidates: [{ content: { role: "model", parts }, index: 0, ...end }],
    ...(exchange.usage !== null && { usageMetadata: usageOf(exchange.usage) }),
    modelVersion: exchange.model,
    responseId: exchange.nonce,
  };
}

function usageOf(usage: NonNullable<GeminiExchange["usage"]>): object {
  const { fresh, read, written, writtenLong, output, thinking } = usage;
  const prompt = fresh + read + written + writtenLong;
  return {
    promptTokenCount: prompt,
    ...(read > 0 && { cachedContentTokenCount: read }),
    candidatesTokenCount: output - thinking,
    ...(thinking > 0 && { thoughtsTokenCount: thinking }),
    totalTokenCount: prompt + output,
  };
}
