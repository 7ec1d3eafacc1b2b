// A scripted reply as the events of the Responses wire, or as one response.
import { errorObject } from "../openai/errors.ts";
import {
  argumentsText,
  blocksOf,
  type EmulatedReply,
  pieces,
  type ReplyBlock,
} from "../server/reply.ts";
import { type Exchange, type Failure, type Frames, sse } from "../server/wire.ts";
import { type ResponsesAccepted, responseId } from "./memory.ts";
import { marksCache } from "./models.ts";

type ResponsesExchange = Exchange<ResponsesAccepted>;

interface Event {
  type: string;
  [field: string]: unknown;
}

/** A finished item, and the events between its beginning and its end. */
interface Said {
  item: object;
  opening: object;
  events: (index: number) => Event[];
}

export function document(reply: EmulatedReply, exchange: ResponsesExchange): object {
  return finished(reply, exchange, saidItems(reply, exchange));
}

export function frames(reply: EmulatedReply, exchange: ResponsesExchange): Frames {
  const said = saidItems(reply, exchange);
  const begun = { ...envelope(exchange), status: "in_progress", output: [], usage: null };
  const started: Event[] = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...said.flatMap(({ item, opening, events }, index) => [
      { type: "response.output_item.added", output_index: index, item: opening },
      ...events(index),
      { type: "response.output_item.done", output_index: index, item },
    ]),
  ];
  const response = finished(reply, exchange, said);
  const ending = [{ type: `response.${response.status}`, response }];
  return {
    frames: [...started, ...ending].map((event, sequence_number) =>
      sse({ ...event, sequence_number }, event.type),
    ),
    end: started.length,
  };
}

export const errorFrame = (failure: Failure): string => {
  const { message, code, param } = errorObject({ code: "server_error", ...failure });
  return sse({ type: "error", code, message, param, sequence_number: 0 }, "error");
};

function saidItems(reply: EmulatedReply, { accepted, nonce }: ResponsesExchange): Said[] {
  const blocks = blocksOf(reply);
  const lastText = blocks.findLastIndex(({ type }) => type === "text");
  const calls = blocks.some(({ type }) => type === "call");
  let reasoningItem: string | undefined;
  const say = (block: ReplyBlock, place: number): Said => {
    const id = `${PREFIX[block.type]}_${nonce}${place}`;
    accepted?.store(id);
    switch (block.type) {
      case "thinking":
        reasoningItem = id;
        return saidThinking(block, id, accepted?.encrypt(block.text) ?? null, reply);
      case "text": {
        const phase = calls || place < lastText ? "commentary" : "final_answer";
        return saidText(block.text, id, phase, reply);
      }
      case "call":
        if (reasoningItem !== undefined) accepted?.bind(id, reasoningItem);
        return saidCall(block, id, block.id ?? `call_${nonce}${place}`, reply);
    }
  };
  return blocks.map(say);
}

const PREFIX = { thinking: "rs", text: "msg", call: "fc" } as const;

type Block<T> = Extract<ReplyBlock, { type: T }>;

function saidThinking(
  { text, redacted = false }: Block<"thinking">,
  id: string,
  encrypted_content: string | null,
  reply: EmulatedReply,
): Said {
  const head = { id, type: "reasoning" };
  const part = { type: "summary_text", text };
  const place = (output_index: number) => ({ item_id: id, output_index, summary_index: 0 });
  return {
    item: { ...head, summary: redacted ? [] : [part], encrypted_content },
    opening: { ...head, summary: [], encrypted_content: null },
    events: (index) =>
      redacted
        ? []
        : [
            {
              type: "response.reasoning_summary_part.added",
              ...place(index),
              part: { ...part, text: "" },
            },
            ...pieces(text, reply).map((delta) => ({
              type: "response.reasoning_summary_text.delta",
              ...place(index),
              delta,
            })),
            { type: "response.reasoning_summary_text.done", ...place(index), text },
            { type: "response.reasoning_summary_part.done", ...place(index), part },
          ],
  };
}

function saidText(text: string, id: string, phase: string, reply: EmulatedReply): Said {
  const head = { id, type: "message", role: "assistant", phase };
  const part = { type: "output_text", text, annotations: [], logprobs: [] };
  const place = (output_index: number) => ({ item_id: id, output_index, content_index: 0 });
  return {
    item: { ...head, status: "completed", content: [part] },
    opening: { ...head, status: "in_progress", content: [] },
    events: (index) => [
      { type: "response.content_part.added", ...place(index), part: { ...part, text: "" } },
      ...pieces(text, reply).map((delta) => ({
        type: "response.output_text.delta",
        ...place(index),
        delta,
        logprobs: [],
      })),
      { type: "response.output_text.done", ...place(index), text, logprobs: [] },
      { type: "response.content_part.done", ...place(index), part },
    ],
  };
}

function saidCall(block: Block<"call">, id: string, call_id: string, reply: EmulatedReply): Said {
  const text = argumentsText(block);
  const head = { id, type: "function_call", call_id, name: block.name };
  const place = (output_index: number) => ({ item_id: id, output_index });
  return {
    item: { ...head, arguments: text, status: "completed" },
    opening: { ...head, arguments: "", status: "in_progress" },
    events: (index) => [
      ...pieces(text, reply).map((delta) => ({
        type: "response.function_call_arguments.delta",
        ...place(index),
        delta,
      })),
      {
        type: "response.function_call_arguments.done",
        ...place(index),
        name: block.name,
        arguments: text,
      },
    ],
  };
}

const envelope = ({ model, nonce, accepted }: ResponsesExchange) => ({
  id: responseId(nonce),
  object: "response",
  created_at: 0,
  model,
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  parallel_tool_calls: true,
  temperature: null,
  tool_choice: "auto",
  tools: [],
  top_p: null,
  ...(accepted?.diagnostics !== undefined && {
    prompt_cache_diagnostics: accepted.diagnostics,
  }),
});

/** A reason other than "completed" is why the response is incomplete. */
function finished(reply: EmulatedReply, exchange: ResponsesExchange, said: readonly Said[]) {
  const { finishReason: reason = "completed" } = reply;
  const status = reason === "completed" ? "completed" : "incomplete";
  return {
    ...envelope(exchange),
    status,
    incomplete_details: status === "completed" ? null : { reason },
    output: said.map(({ item }) => item),
    usage: usageOf(exchange),
  };
}

function usageOf({ usage, model }: ResponsesExchange): object | null {
  if (usage === null) return null;
  const { fresh, read, written, writtenLong, output, thinking } = usage;
  const input = fresh + read + written + writtenLong;
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: read,
      // Where writing is free nobody counts it.
      cache_write_tokens: marksCache(model) ? written + writtenLong : 0,
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: thinking },
    total_tokens: input + output,
  };
}
