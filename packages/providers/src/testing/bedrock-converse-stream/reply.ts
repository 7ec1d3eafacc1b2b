// A scripted reply as events of a Converse stream, or as one output.
import {
  argumentsObject,
  argumentsText,
  blocksOf,
  callsOf,
  type EmulatedReply,
  pieces,
} from "../server/reply.ts";
import type { Exchange, Frame, Frames } from "../server/wire.ts";
import { event } from "./event-stream.ts";
import { type ConverseAccepted, meaningOf } from "./memory.ts";

type ConverseExchange = Exchange<ConverseAccepted>;

interface Said {
  block: Record<string, unknown>;
  /** What the start of the block tells; undefined: it has none. */
  start?: object;
  deltas: object[];
}

export function document(reply: EmulatedReply, exchange: ConverseExchange): object {
  const content = saidBlocks(reply, exchange).map(({ block }) => block);
  return {
    output: { message: { role: "assistant", content } },
    stopReason: stopReason(reply),
    ...usageOf(exchange),
    metrics: { latencyMs: 0 },
  };
}

export function frames(reply: EmulatedReply, exchange: ConverseExchange): Frames {
  const started: Frame[] = [
    event("messageStart", { role: "assistant" }),
    ...saidBlocks(reply, exchange).flatMap(({ start, deltas }, contentBlockIndex) => [
      ...(start === undefined ? [] : [event("contentBlockStart", { contentBlockIndex, start })]),
      ...deltas.map((delta) => event("contentBlockDelta", { contentBlockIndex, delta })),
      event("contentBlockStop", { contentBlockIndex }),
    ]),
  ];
  const ending = [
    event("messageStop", { stopReason: stopReason(reply) }),
    event("metadata", { ...usageOf(exchange), metrics: { latencyMs: 0 } }),
  ];
  return { frames: [...started, ...ending], end: started.length };
}

function saidBlocks(reply: EmulatedReply, { accepted, nonce }: ConverseExchange): Said[] {
  const signer = accepted?.signer() ?? null;
  const say = (block: Record<string, unknown>) => signer?.said(meaningOf("assistant", block));
  const saidBlock = (block: ReturnType<typeof blocksOf>[number], place: number): Said => {
    switch (block.type) {
      case "text": {
        const said = { text: block.text };
        say(said);
        return { block: said, deltas: pieces(block.text, reply).map((text) => ({ text })) };
      }
      case "thinking":
        return saidThinking(block, signer?.sign(block.redacted ? "" : block.text), reply);
      case "call": {
        const toolUseId = block.id ?? `tooluse_${nonce}${place}`;
        const head = { toolUseId, name: block.name };
        const said = { toolUse: { ...head, input: argumentsObject(block) } };
        say(said);
        return {
          block: said,
          start: { toolUse: head },
          deltas: pieces(argumentsText(block), reply).map((input) => ({ toolUse: { input } })),
        };
      }
    }
  };
  return blocksOf(reply).map(saidBlock);
}

function saidThinking(
  { text, redacted = false }: { text: string; redacted?: boolean },
  signature: string | undefined,
  reply: EmulatedReply,
): Said {
  if (redacted && signature !== undefined) {
    const reasoningContent = { redactedContent: Buffer.from(signature).toString("base64") };
    return { block: { reasoningContent }, deltas: [{ reasoningContent }] };
  }
  const signed = signature === undefined ? {} : { signature };
  return {
    block: { reasoningContent: { reasoningText: { text, ...signed } } },
    deltas: [
      ...pieces(text, reply).map((piece) => ({ reasoningContent: { text: piece } })),
      ...(signature === undefined ? [] : [{ reasoningContent: signed }]),
    ],
  };
}

const stopReason = (reply: EmulatedReply) =>
  reply.finishReason ?? (callsOf(reply).length > 0 ? "tool_use" : "end_turn");

function usageOf({ usage }: ConverseExchange): object {
  if (usage === null) return {};
  const { fresh, read, written, writtenLong, output } = usage;
  const kept = [
    { ttl: "5m", inputTokens: written },
    { ttl: "1h", inputTokens: writtenLong },
  ].filter(({ inputTokens }) => inputTokens > 0);
  return {
    usage: {
      inputTokens: fresh,
      outputTokens: output,
      totalTokens: fresh + read + written + writtenLong + output,
      cacheReadInputTokens: read,
      cacheWriteInputTokens: written + writtenLong,
      ...(kept.length > 0 && { cacheDetails: kept }),
    },
  };
}
