// Writes a model's reply as each wire has it, in one piece or as a stream.
import type { DoorApi } from "../wires/door-wire.ts";
import type { Reply } from "./agents.ts";
import { codeOf } from "./write-request.ts";

export interface WrittenReply {
  contentType: string;
  /** Pieces as they would arrive. */
  pieces: string[];
}

export interface ReplyUsage {
  input: number;
  output: number;
}

type ReplyWriter = (
  reply: Reply,
  id: string,
  usage: ReplyUsage,
  code: boolean,
) => { whole: object; events: Event[] };
/** `name`: what stands in the line "event:". Absent: there is none. */
interface Event {
  name?: string;
  data: object | string;
}

export function writeReply(
  api: DoorApi,
  reply: Reply,
  options: { id: string; usage: ReplyUsage; streaming: boolean; code?: boolean },
): WrittenReply {
  const { whole, events } = WRITERS[api](reply, options.id, options.usage, options.code === true);
  if (!options.streaming)
    return { contentType: "application/json", pieces: [JSON.stringify(whole)] };
  const pieces = events.map(({ name, data }) => {
    const text = typeof data === "string" ? data : JSON.stringify(data);
    return `${name === undefined ? "" : `event: ${name}\n`}data: ${text}\n\n`;
  });
  return { contentType: "text/event-stream; charset=utf-8", pieces };
}

const chat: ReplyWriter = ({ text, thinking, calls }, id, { input, output }) => {
  const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
  const made = calls.map((call, index) => ({
    ...{ index, id: call.id, type: "function" },
    function: { name: call.name, arguments: JSON.stringify(call.args) },
  }));
  const finish = calls.length > 0 ? "tool_calls" : "stop";
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    data: {
      ...{ id, object: "chat.completion.chunk", created: 1, model: "model" },
      choices: [{ index: 0, delta, finish_reason }],
    },
  });
  return {
    whole: {
      ...{ id, object: "chat.completion", created: 1, model: "model", usage },
      choices: [
        {
          ...{ index: 0, finish_reason: finish },
          message: {
            ...{ role: "assistant", content: text || null },
            ...(thinking && { reasoning_content: thinking }),
            ...(made.length > 0 && { tool_calls: made }),
          },
        },
      ],
    },
    events: [
      chunk({ role: "assistant", content: "" }),
      ...(thinking ? [chunk({ reasoning_content: thinking })] : []),
      ...halves(text).map((content) => chunk({ content })),
      ...made.map((call) => chunk({ tool_calls: [call] })),
      chunk({}, finish),
      {
        data: {
          id,
          object: "chat.completion.chunk",
          created: 1,
          model: "model",
          choices: [],
          usage,
        },
      },
      { data: "[DONE]" },
    ],
  };
};

const responses: ReplyWriter = ({ text, thinking, calls }, id, usage, code) => {
  const items = [
    ...(thinking
      ? [{ type: "reasoning", id: `rs_${id}`, summary: [], encrypted_content: thinking }]
      : []),
    ...(text
      ? [
          {
            ...{ type: "message", id: `msg_${id}`, role: "assistant", status: "completed" },
            content: [{ type: "output_text", text, annotations: [] }],
          },
        ]
      : []),
    ...calls.map((call) => ({
      ...{ id: `fc_${call.id}`, call_id: call.id, name: call.name, status: "completed" },
      ...(code
        ? { type: "custom_tool_call", namespace: "functions", input: codeOf(call.args) }
        : { type: "function_call", arguments: JSON.stringify(call.args) }),
    })),
  ];
  const response = (status: string, output: object[]) => ({
    ...{ id, object: "response", created_at: 1, model: "model", status, output },
    ...(status === "completed" && {
      usage: {
        ...{ input_tokens: usage.input, output_tokens: usage.output },
        total_tokens: usage.input + usage.output,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens_details: { reasoning_tokens: 0 },
      },
    }),
  });
  const named = (type: string, data: object) => ({ name: type, data: { type, ...data } });
  return {
    whole: response("completed", items),
    events: [
      named("response.created", { response: response("in_progress", []) }),
      ...items.flatMap((item, output_index) => [
        named("response.output_item.added", { output_index, item: { ...item, content: [] } }),
        ...("content" in item
          ? halves(text).map((delta) =>
              named("response.output_text.delta", { output_index, content_index: 0, delta }),
            )
          : []),
        named("response.output_item.done", { output_index, item }),
      ]),
      named("response.completed", { response: response("completed", items) }),
    ],
  };
};

const messages: ReplyWriter = ({ text, thinking, calls }, id, { input, output }) => {
  const content = [
    ...(thinking ? [{ type: "thinking", thinking, signature: `s${thinking}` }] : []),
    ...(text ? [{ type: "text", text }] : []),
    ...calls.map((call) => ({ type: "tool_use", id: call.id, name: call.name, input: call.args })),
  ];
  const stop_reason = calls.length > 0 ? "tool_use" : "end_turn";
  const message = { id, type: "message", role: "assistant", model: "model" };
  const named = (type: string, data: object) => ({ name: type, data: { type, ...data } });
  const deltasOf = (block: (typeof content)[number]): object[] => {
    if (block.type === "thinking")
      return [
        { type: "thinking_delta", thinking },
        { type: "signature_delta", signature: `s${thinking}` },
      ];
    if (block.type === "text")
      return halves(text).map((half) => ({ type: "text_delta", text: half }));
    const { input: args } = block as { input: object };
    return [{ type: "input_json_delta", partial_json: JSON.stringify(args) }];
  };
  const begun = (block: (typeof content)[number]) => {
    if (block.type === "thinking") return { type: "thinking", thinking: "", signature: "" };
    return block.type === "text" ? { type: "text", text: "" } : { ...block, input: {} };
  };
  return {
    whole: {
      ...{ ...message, content, stop_reason, stop_sequence: null },
      usage: { input_tokens: input, output_tokens: output },
    },
    events: [
      named("message_start", {
        message: {
          ...{ ...message, content: [], stop_reason: null, stop_sequence: null },
          usage: { input_tokens: input, output_tokens: 1 },
        },
      }),
      ...content.flatMap((block, index) => [
        named("content_block_start", { index, content_block: begun(block) }),
        ...deltasOf(block).map((delta) => named("content_block_delta", { index, delta })),
        named("content_block_stop", { index }),
      ]),
      named("message_delta", {
        delta: { stop_reason, stop_sequence: null },
        usage: { output_tokens: output },
      }),
      named("message_stop", {}),
    ],
  };
};

const google: ReplyWriter = ({ text, thinking, calls }, responseId, { input, output }) => {
  const usageMetadata = {
    ...{ promptTokenCount: input, candidatesTokenCount: output },
    totalTokenCount: input + output,
  };
  const callParts = calls.map((call, index) => ({
    functionCall: { ...(call.id !== "" && { id: call.id }), name: call.name, args: call.args },
    ...(index === 0 && thinking && { thoughtSignature: "c2lnbmF0dXJl" }),
  }));
  const event = (parts: object[], more: object = {}) => ({
    ...{ responseId, modelVersion: "model" },
    candidates: [{ index: 0, content: { role: "model", parts }, ...more }],
  });
  const ended = { finishReason: "STOP" };
  return {
    whole: { ...event([...(text ? [{ text }] : []), ...callParts], ended), usageMetadata },
    events: [
      ...halves(text).map((half) => ({ data: event([{ text: half }]) })),
      { data: { ...event(callParts, ended), usageMetadata } },
    ],
  };
};

const WRITERS: Readonly<Record<DoorApi, ReplyWriter>> = {
  "openai-completions": chat,
  "openai-responses": responses,
  "anthropic-messages": messages,
  "google-generative-ai": google,
};

function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== "");
}
