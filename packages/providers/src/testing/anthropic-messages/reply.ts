// A scripted reply as the events of the Messages wire, or as one message.
import type { JsonObject } from "../server/json.ts";
import {
  argumentsObject,
  argumentsText,
  blocksOf,
  callsOf,
  type EmulatedReply,
  pieces,
  type ReplyBlock,
} from "../server/reply.ts";
import { type Exchange, type Frames, sse } from "../server/wire.ts";
import type { Compaction } from "./compaction.ts";
import { type MessagesAccepted, messageId } from "./memory.ts";
import { meaning } from "./prefix.ts";

type MessagesExchange = Exchange<MessagesAccepted>;

/** A finished block, and the deltas that make it of its beginning. */
interface Said {
  block: object;
  opening: object;
  deltas: object[];
}

export function document(reply: EmulatedReply, exchange: MessagesExchange): object {
  return {
    ...envelope(exchange),
    content: saidBlocks(reply, exchange).map(({ block }) => block),
    stop_reason: stopReason(reply),
    usage: usageOf(exchange),
  };
}

export function frames(reply: EmulatedReply, exchange: MessagesExchange): Frames {
  const event = (type: string, data: object) => sse({ type, ...data }, type);
  const message = { ...envelope(exchange), usage: { ...usageOf(exchange), output_tokens: 1 } };
  const started = [
    event("message_start", { message }),
    event("ping", {}),
    ...saidBlocks(reply, exchange).flatMap(({ opening, deltas }, index) => [
      event("content_block_start", { index, content_block: opening }),
      ...deltas.map((delta) => event("content_block_delta", { index, delta })),
      event("content_block_stop", { index }),
    ]),
  ];
  const delta = { stop_reason: stopReason(reply), stop_sequence: null };
  const ending = [
    event("message_delta", { delta, usage: usageOf(exchange) }),
    event("message_stop", {}),
  ];
  return { frames: [...started, ...ending], end: started.length };
}

function saidBlocks(reply: EmulatedReply, { accepted, nonce }: MessagesExchange): Said[] {
  const signer = accepted?.signer();
  const sign = (words: string) => signer?.sign(words) ?? "";
  const tell = (block: JsonObject) => signer?.said(meaning({ role: "assistant", value: block }));
  let calls = 0;
  const say = (block: ReplyBlock): Said => {
    switch (block.type) {
      case "text": {
        tell({ type: "text", text: block.text });
        return {
          block: { type: "text", text: block.text, citations: null },
          opening: { type: "text", text: "", citations: null },
          deltas: pieces(block.text, reply).map((piece) => ({ type: "text_delta", text: piece })),
        };
      }
      case "thinking": {
        if (block.redacted) {
          const redacted = { type: "redacted_thinking", data: sign("") };
          return { block: redacted, opening: redacted, deltas: [] };
        }
        const signature = sign(block.text);
        return {
          block: { type: "thinking", thinking: block.text, signature },
          opening: { type: "thinking", thinking: "", signature: "" },
          deltas: [
            ...pieces(block.text, reply).map((thinking) => ({ type: "thinking_delta", thinking })),
            { type: "signature_delta", signature },
          ],
        };
      }
      case "call": {
        const id = block.id ?? `toolu_${nonce}${calls++}`;
        const head = { type: "tool_use", id, name: block.name };
        const input = argumentsObject(block);
        tell({ ...head, input });
        return {
          block: { ...head, input, caller: { type: "direct" } },
          opening: { ...head, input: {}, caller: { type: "direct" } },
          deltas: [
            { type: "input_json_delta", partial_json: "" },
            ...pieces(argumentsText(block), reply).map((partial_json) => ({
              type: "input_json_delta",
              partial_json,
            })),
          ],
        };
      }
    }
  };
  const { compaction } = accepted ?? {};
  const before = compaction === undefined ? [] : [compacted(compaction, tell)];
  return [...before, ...blocksOf(reply).map(say)];
}

function compacted({ block }: Compaction, tell: (block: JsonObject) => void): Said {
  tell(block);
  const delta = { type: "compaction_delta", content: block.content };
  return { block, opening: { ...block, content: null }, deltas: [delta] };
}

const envelope = ({ model, accepted, nonce }: MessagesExchange) => ({
  id: messageId(nonce),
  type: "message",
  role: "assistant",
  model,
  content: [],
  stop_reason: null,
  stop_sequence: null,
  stop_details: null,
  container: null,
  ...(accepted?.diagnostics !== undefined && { diagnostics: accepted.diagnostics }),
  ...(accepted !== null &&
    accepted.dropped.length > 0 && {
      input_transformations: accepted.dropped.map(({ path, binding }) => ({
        type: "thinking_dropped",
        path,
        reason: `${binding}_binding_mismatch`,
      })),
    }),
});

const stopReason = (reply: EmulatedReply) =>
  reply.finishReason ?? (callsOf(reply).length > 0 ? "tool_use" : "end_turn");

/** The wire has no way to tell none. */
function usageOf({ usage, accepted }: MessagesExchange): Record<string, unknown> {
  const { fresh, read, written, writtenLong, output, thinking } = usage ?? {
    fresh: 0,
    read: 0,
    written: 0,
    writtenLong: 0,
    output: 0,
    thinking: 0,
  };
  return {
    input_tokens: fresh,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written + writtenLong,
    cache_creation: {
      ephemeral_5m_input_tokens: written,
      ephemeral_1h_input_tokens: writtenLong,
    },
    output_tokens: output,
    output_tokens_details: { thinking_tokens: thinking },
    server_tool_use: null,
    service_tier: "standard",
    ...(accepted?.compaction !== undefined && afterCompaction(accepted.compaction, output)),
  };
}

/** The reply alone, which read the compaction in place of the history; each step stands besides. */
const afterCompaction = ({ tokensBefore, tokens }: Compaction, output: number) => ({
  input_tokens: tokens,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  iterations: [
    { type: "compaction", input_tokens: tokensBefore, output_tokens: tokens },
    { type: "message", input_tokens: tokens, output_tokens: output },
  ],
});
