// The official clients of three providers, each as one conversation that a test can lead.
import Anthropic from "@anthropic-ai/sdk";
import { type Content, GoogleGenAI, type Part } from "@google/genai";
import OpenAI from "openai";
import type { DoorApi } from "../../gateway/src/door/wires/door-wire.ts";
import { READ } from "./servers.ts";

export interface Heard {
  text: string;
  thinking: string;
  calls: { id: string; name: string; args: unknown }[];
  /** Tokens of prompt and reply. */
  tokens: number;
}

/** What is said next: a person's words, perhaps with a picture, or what the calls gave. */
export type Next = { text: string; png?: string } | { results: readonly string[] };

export interface Talk {
  say(next: Next): Promise<Heard>;
}

export interface TalkOptions {
  /** Of the gateway, without a path. */
  url: string;
  model: string;
  streamed: boolean;
  /** The session that has the history. Absent: the client has it, and sends all of it. */
  session?: string | undefined;
}

const SESSION = "x-clew-session";
const headersOf = ({ session }: TalkOptions) =>
  session === undefined ? {} : { [SESSION]: session };

/** All of it, or what is new. */
const sent = <Item>({ session }: TalkOptions, history: Item[], fresh: Item[]): Item[] => {
  history.push(...fresh);
  return session === undefined ? [...history] : fresh;
};

function talkByCompletions(options: TalkOptions): Talk {
  const client = new OpenAI({
    ...{ baseURL: `${options.url}/v1`, apiKey: "key", maxRetries: 0 },
    defaultHeaders: headersOf(options),
  });
  type Message = OpenAI.ChatCompletionMessageParam;
  type Thinking = { reasoning_content?: string | null };
  const history: Message[] = [];
  let calls: Heard["calls"] = [];
  const tools: OpenAI.ChatCompletionTool[] = [
    { type: "function", function: { name: READ.name, parameters: READ.schema } },
  ];
  const fresh = (next: Next): Message[] => {
    if ("results" in next)
      return next.results.map((content, index) => ({
        ...{ role: "tool", tool_call_id: calls[index]!.id, content },
      }));
    const image = { url: `data:image/png;base64,${next.png}` };
    return [
      {
        role: "user",
        content: [
          ...(next.png === undefined ? [] : [{ type: "image_url" as const, image_url: image }]),
          { type: "text", text: next.text },
        ],
      },
    ];
  };
  return {
    async say(next) {
      const request = {
        model: options.model,
        tools,
        messages: sent(options, history, fresh(next)),
      };
      const heard: Heard = { text: "", thinking: "", calls: [], tokens: 0 };
      const open: { id: string; name: string; args: string }[] = [];
      if (options.streamed) {
        const stream = await client.chat.completions.create({
          ...{ ...request, stream: true, stream_options: { include_usage: true } },
        });
        for await (const { choices, usage } of stream) {
          heard.tokens = usage?.total_tokens ?? heard.tokens;
          const delta = choices[0]?.delta;
          heard.text += delta?.content ?? "";
          heard.thinking += (delta as Thinking | undefined)?.reasoning_content ?? "";
          for (const { index, id, function: made } of delta?.tool_calls ?? []) {
            open[index] ??= { id: id ?? "", name: made?.name ?? "", args: "" };
            open[index].args += made?.arguments ?? "";
          }
        }
      } else {
        const { choices, usage } = await client.chat.completions.create(request);
        const { message } = choices[0]!;
        heard.text = message.content ?? "";
        heard.thinking = (message as Thinking).reasoning_content ?? "";
        heard.tokens = usage?.total_tokens ?? 0;
        for (const call of message.tool_calls ?? [])
          if (call.type === "function")
            open.push({ id: call.id, name: call.function.name, args: call.function.arguments });
      }
      calls = open.map(({ args, ...call }) => ({ ...call, args: JSON.parse(args) as unknown }));
      history.push({
        role: "assistant",
        content: heard.text || null,
        ...(heard.thinking !== "" && { reasoning_content: heard.thinking }),
        ...(open.length > 0 && {
          tool_calls: open.map(({ id, name, args }) => ({
            ...{ id, type: "function" as const, function: { name, arguments: args } },
          })),
        }),
      });
      return { ...heard, calls };
    },
  };
}

function talkByResponses(options: TalkOptions): Talk {
  const client = new OpenAI({
    ...{ baseURL: `${options.url}/v1`, apiKey: "key", maxRetries: 0 },
    defaultHeaders: headersOf(options),
  });
  type Item = OpenAI.Responses.ResponseInputItem;
  const history: Item[] = [];
  let calls: Heard["calls"] = [];
  const tools: OpenAI.Responses.Tool[] = [
    { type: "function", name: READ.name, parameters: READ.schema, strict: false },
  ];
  const fresh = (next: Next): Item[] => {
    if ("results" in next)
      return next.results.map((output, index) => ({
        ...{ type: "function_call_output", call_id: calls[index]!.id, output },
      }));
    const image_url = `data:image/png;base64,${next.png}`;
    return [
      {
        role: "user",
        content: [
          ...(next.png === undefined
            ? []
            : [{ type: "input_image" as const, image_url, detail: "auto" as const }]),
          { type: "input_text", text: next.text },
        ],
      },
    ];
  };
  return {
    async say(next) {
      const { model } = options;
      const input = sent(options, history, fresh(next));
      const include: OpenAI.Responses.ResponseIncludable[] = ["reasoning.encrypted_content"];
      const request = { model, tools, input, store: false, include };
      const response = options.streamed
        ? await finalOf(await client.responses.create({ ...request, stream: true }))
        : await client.responses.create(request);
      const { output, usage } = response;
      history.push(...(output as Item[]));
      calls = output.flatMap((item) =>
        item.type === "function_call"
          ? [{ id: item.call_id, name: item.name, args: JSON.parse(item.arguments) as unknown }]
          : [],
      );
      const thinking = output.flatMap((item) =>
        item.type === "reasoning" ? item.summary.map(({ text }) => text) : [],
      );
      const text = output.flatMap((item) =>
        item.type === "message"
          ? item.content.map((part) => (part.type === "output_text" ? part.text : ""))
          : [],
      );
      return {
        ...{ text: text.join(""), thinking: thinking.join(""), calls },
        tokens: usage?.total_tokens ?? 0,
      };
    },
  };
}

async function finalOf(
  stream: AsyncIterable<OpenAI.Responses.ResponseStreamEvent>,
): Promise<OpenAI.Responses.Response> {
  let words = "";
  for await (const event of stream) {
    if (event.type === "response.output_text.delta") words += event.delta;
    if (event.type === "response.failed") throw new Error(event.response.error?.message);
    if (event.type !== "response.completed") continue;
    const told = event.response.output.flatMap((item) =>
      item.type === "message"
        ? item.content.map((part) => (part.type === "output_text" ? part.text : ""))
        : [],
    );
    if (told.join("") !== words) throw new Error("The words of the stream are not its text.");
    return event.response;
  }
  throw new Error("The stream ended before the response did.");
}

function talkByMessages(options: TalkOptions): Talk {
  const client = new Anthropic({
    ...{ baseURL: options.url, apiKey: "key", maxRetries: 0 },
    defaultHeaders: headersOf(options),
  });
  const history: Anthropic.MessageParam[] = [];
  let calls: Heard["calls"] = [];
  const tools: Anthropic.Tool[] = [
    { name: READ.name, description: READ.description, input_schema: READ.schema },
  ];
  const fresh = (next: Next): Anthropic.MessageParam => {
    if ("results" in next)
      return {
        role: "user",
        content: next.results.map((content, index) => ({
          ...{ type: "tool_result", tool_use_id: calls[index]!.id, content },
        })),
      };
    const source = { type: "base64" as const, media_type: "image/png" as const, data: next.png! };
    return {
      role: "user",
      content: [
        ...(next.png === undefined ? [] : [{ type: "image" as const, source }]),
        { type: "text", text: next.text },
      ],
    };
  };
  return {
    async say(next) {
      const request = {
        ...{ model: options.model, max_tokens: 2000, tools },
        thinking: { type: "adaptive" as const },
        messages: sent(options, history, [fresh(next)]),
      };
      const { content, usage } = options.streamed
        ? await client.messages.stream(request).finalMessage()
        : await client.messages.create(request);
      history.push({ role: "assistant", content });
      calls = content.flatMap((block) =>
        block.type === "tool_use" ? [{ id: block.id, name: block.name, args: block.input }] : [],
      );
      return {
        text: content.map((block) => (block.type === "text" ? block.text : "")).join(""),
        thinking: content
          .map((block) => (block.type === "thinking" ? block.thinking : ""))
          .join(""),
        calls,
        tokens: usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + usage.output_tokens,
      };
    },
  };
}

function talkByGoogle(options: TalkOptions): Talk {
  const client = new GoogleGenAI({
    apiKey: "key",
    httpOptions: {
      ...{ baseUrl: options.url, retryOptions: { attempts: 1 } },
      headers: headersOf(options),
    },
  });
  const history: Content[] = [];
  let calls: Heard["calls"] = [];
  const config = {
    tools: [{ functionDeclarations: [{ name: READ.name, parametersJsonSchema: READ.schema }] }],
    thinkingConfig: { includeThoughts: true },
  };
  const fresh = (next: Next): Content => {
    if ("results" in next)
      return {
        role: "user",
        parts: next.results.map((output, index) => {
          const { id, name } = calls[index]!;
          return { functionResponse: { ...(id !== "" && { id }), name, response: { output } } };
        }),
      };
    const inlineData = { mimeType: "image/png", data: next.png! };
    return {
      role: "user",
      parts: [...(next.png === undefined ? [] : [{ inlineData }]), { text: next.text }],
    };
  };
  return {
    async say(next) {
      const contents = sent(options, history, [fresh(next)]);
      const request = { model: options.model, contents, config };
      const parts: Part[] = [];
      let tokens = 0;
      const answers = options.streamed
        ? await client.models.generateContentStream(request)
        : [await client.models.generateContent(request)];
      for await (const { candidates, usageMetadata } of answers) {
        parts.push(...(candidates?.[0]?.content?.parts ?? []));
        tokens = usageMetadata?.totalTokenCount ?? tokens;
      }
      history.push({ role: "model", parts });
      calls = parts.flatMap(({ functionCall }) =>
        functionCall === undefined
          ? []
          : [
              {
                id: functionCall.id ?? "",
                name: functionCall.name ?? "",
                args: functionCall.args,
              },
            ],
      );
      const words = (isThought: boolean) =>
        parts
          .map(({ text, thought }) => ((thought === true) === isThought ? (text ?? "") : ""))
          .join("");
      return { text: words(false), thinking: words(true), calls, tokens };
    },
  };
}

export const TALKS: Readonly<Record<DoorApi, (options: TalkOptions) => Talk>> = {
  "openai-completions": talkByCompletions,
  "openai-responses": talkByResponses,
  "anthropic-messages": talkByMessages,
  "google-generative-ai": talkByGoogle,
};
