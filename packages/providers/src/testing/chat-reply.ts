// A scripted reply as Chat Completions chunks, or as one document.

/** What a scripted model says. */
export interface ChatReply {
  /** Default: "". */
  text?: string;
  /** Sent as `reasoning_content`. Default: "". */
  thinking?: string;
  /** `arguments` as text is sent as it is, to script malformed ones. Default: no calls. */
  toolCalls?: readonly {
    id?: string;
    name: string;
    arguments: Readonly<Record<string, unknown>> | string;
  }[];
  /** Default: "tool_calls" beside calls, else "stop". */
  finishReason?: string;
  /** Tokens. Default 10 and 5; null = none told. */
  usage?: { prompt: number; completion: number; cached?: number } | null;
  /** Characters of text and arguments per chunk; default: all in one. */
  chunkChars?: number;
  /** ms between chunks; default: everything at once. */
  pauseMs?: number;
}

/** `requestIndex` keeps the ids of tool calls unique across replies. */
export function replyChunks(reply: ChatReply, model: unknown, requestIndex = 0): object[] {
  const { text = "", thinking = "", toolCalls = [], chunkChars = Number.POSITIVE_INFINITY } = reply;
  const base = { id: "chatcmpl-emulated", object: "chat.completion.chunk", created: 0, model };
  const delta = (value: object) => ({
    ...base,
    choices: [{ index: 0, delta: value, finish_reason: null }],
  });
  const usage = usageOf(reply);
  return [
    delta({ role: "assistant", content: "" }),
    ...cut(thinking, chunkChars).map((piece) => delta({ reasoning_content: piece })),
    ...cut(text, chunkChars).map((piece) => delta({ content: piece })),
    ...toolCalls.flatMap((call, index) => [
      delta({
        tool_calls: [
          {
            index,
            id: idOf(call, requestIndex, index),
            type: "function",
            function: { name: call.name, arguments: "" },
          },
        ],
      }),
      ...cut(argumentsText(call), chunkChars).map((piece) =>
        delta({ tool_calls: [{ index, function: { arguments: piece } }] }),
      ),
    ]),
    { ...base, choices: [{ index: 0, delta: {}, finish_reason: finishReason(reply) }] },
    ...(usage === undefined ? [] : [{ ...base, choices: [], usage }]),
  ];
}

export function replyDocument(reply: ChatReply, model: unknown, requestIndex = 0): object {
  const { text, thinking, toolCalls = [] } = reply;
  const calls = toolCalls.map((call, index) => ({
    id: idOf(call, requestIndex, index),
    type: "function",
    function: { name: call.name, arguments: argumentsText(call) },
  }));
  const message = {
    role: "assistant",
    content: text ?? null,
    ...(thinking !== undefined && { reasoning_content: thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  const usage = usageOf(reply);
  const choices = [{ index: 0, message, finish_reason: finishReason(reply) }];
  return {
    id: "chatcmpl-emulated",
    object: "chat.completion",
    created: 0,
    model,
    choices,
    ...(usage !== undefined && { usage }),
  };
}

type Call = NonNullable<ChatReply["toolCalls"]>[number];

const idOf = (call: Call, requestIndex: number, index: number) =>
  call.id ?? `call_emulated_${requestIndex}_${index}`;
const argumentsText = (call: Call) =>
  typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments);
const finishReason = ({ finishReason: given, toolCalls = [] }: ChatReply) =>
  given ?? (toolCalls.length > 0 ? "tool_calls" : "stop");

function usageOf({ usage = { prompt: 10, completion: 5 } }: ChatReply): object | undefined {
  if (usage === null) return undefined;
  const { prompt, completion, cached = 0 } = usage;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

function cut(text: string, size: number): string[] {
  if (text === "") return [];
  if (!Number.isFinite(size)) return [text];
  return Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
    text.slice(index * size, (index + 1) * size),
  );
}
