// Writes a generated conversation as the body of a request on each wire.
import type { DoorApi } from "../wires/door-wire.ts";
import type { Said, Writing, WrittenRequest } from "./conversation.ts";

type Part = Record<string, unknown>;
interface Written {
  uid: string | null;
  message: Part;
}

export function writeRequest(
  api: DoorApi,
  said: readonly Said[],
  writing: Writing,
): WrittenRequest {
  const { path, body, list, written } = WRITERS[api](said, writing);
  return {
    path,
    body: { ...body, [list]: [...(body[list] ?? []), ...written.map(({ message }) => message)] },
    uids: written.map(({ uid }) => uid),
  };
}

interface Draft {
  path: string;
  list: string;
  /** The list holds what leads. */
  body: { [name: string]: unknown } & Record<string, Part[]>;
  written: Written[];
}

type Writer = (said: readonly Said[], writing: Writing) => Draft;

const draft = (
  path: string,
  list: string,
  body: Record<string, unknown>,
  written: Written[],
): Draft => ({ path, list, body: body as Draft["body"], written });

function chatOf(one: Said, forgetsThinking: boolean | undefined): Written[] {
  const { uid } = one;
  switch (one.by) {
    case "person":
      return [{ uid, message: { role: "user", content: one.text } }];
    case "system":
      return [{ uid, message: { role: "system", content: one.text } }];
    case "model":
      return [
        {
          uid,
          message: {
            role: "assistant",
            content: one.text || null,
            ...(one.thinking &&
              !forgetsThinking && { reasoning_content: one.thinking, refusal: null }),
            ...(one.calls.length > 0 && {
              tool_calls: one.calls.map(({ id, name, args }) => ({
                id,
                type: "function",
                function: { name, arguments: JSON.stringify(args) },
              })),
            }),
          },
        },
      ];
    case "tools":
      return one.results.map(({ id, text }) => ({
        uid,
        message: { role: "tool", tool_call_id: id, content: text },
      }));
  }
}

const chat: Writer = (said, { model, head, tools, forgetsThinking, maxTokens, more }) =>
  draft(
    "/v1/chat/completions",
    "messages",
    {
      model,
      stream: true,
      ...(maxTokens && { max_completion_tokens: maxTokens }),
      ...(tools.length > 0 && {
        tools: tools.map((name) => ({
          type: "function",
          function: { name, parameters: { type: "object" } },
        })),
      }),
      ...more,
      messages: head.map((content) => ({ role: "system", content })),
    },
    said.flatMap((one) => chatOf(one, forgetsThinking)),
  );

function itemsOf(
  one: Said,
  { forgetsThinking, code }: { forgetsThinking: boolean | undefined; code: boolean | undefined },
): Written[] {
  const { uid } = one;
  const message = (role: string, type: string, text: string) => ({
    uid,
    message: { type: "message", role, content: [{ type, text }] },
  });
  switch (one.by) {
    case "person":
      return [message("user", "input_text", one.text)];
    case "system":
      return [message("developer", "input_text", one.text)];
    case "model":
      return [
        ...(one.thinking && !forgetsThinking
          ? [
              {
                uid: null,
                message: { type: "reasoning", summary: [], encrypted_content: one.thinking },
              },
            ]
          : []),
        ...(one.text ? [message("assistant", "output_text", one.text)] : []),
        ...one.calls.map(({ id, name, args }) => ({
          uid,
          message: code
            ? {
                ...{ type: "custom_tool_call", id: `ctc_${id}`, call_id: id, name },
                ...{ namespace: "functions", input: codeOf(args) },
              }
            : {
                ...{ type: "function_call", id: `fc_${id}`, call_id: id, name },
                arguments: JSON.stringify(args),
              },
        })),
      ];
    case "tools":
      return one.results.map(({ id, text }) => ({
        uid,
        message: code
          ? {
              ...{ type: "custom_tool_call_output", call_id: id },
              output: ["Script completed\nOutput:\n", text].map((piece) => ({
                ...{ type: "input_text", text: piece },
              })),
            }
          : { type: "function_call_output", call_id: id, output: text },
      }));
  }
}

const listOf = (tools: readonly string[]): Part => ({
  ...{ type: "additional_tools", id: "at_1", role: "developer" },
  tools: [
    {
      ...{ type: "namespace", name: "functions", description: "" },
      tools: tools.map((name) => ({ type: "custom", name, description: "Runs code." })),
    },
  ],
});

/** What a model writes for a tool that runs code. */
export const codeOf = (args: Record<string, unknown>): string =>
  `text(await tools.run(${JSON.stringify(args)}));`;

const responses: Writer = (said, { model, head, tools, code, forgetsThinking, maxTokens, more }) =>
  draft(
    "/v1/responses",
    "input",
    {
      model,
      stream: true,
      store: false,
      ...(maxTokens && { max_output_tokens: maxTokens }),
      ...(!code && {
        tools: tools.map((name) => ({ type: "function", name, parameters: { type: "object" } })),
      }),
      ...more,
      input: [
        ...(code && tools.length > 0 ? [listOf(tools)] : []),
        ...head.map((text) => ({
          ...{ type: "message", role: "developer" },
          content: [{ type: "input_text", text }],
        })),
      ],
    },
    said.flatMap((one) => itemsOf(one, { forgetsThinking, code })),
  );

function messageOf(one: Said, forgetsThinking: boolean | undefined): Written {
  const { uid } = one;
  switch (one.by) {
    case "person":
      return { uid, message: { role: "user", content: one.text } };
    case "system":
      return { uid, message: { role: "system", content: one.text } };
    case "model":
      return {
        uid,
        message: {
          role: "assistant",
          content: [
            ...(one.thinking && !forgetsThinking
              ? [{ type: "thinking", thinking: one.thinking, signature: `s${one.thinking}` }]
              : []),
            ...(one.text ? [{ type: "text", text: one.text }] : []),
            ...one.calls.map(({ id, name, args }) => ({
              type: "tool_use",
              id,
              name,
              input: args,
            })),
          ],
        },
      };
    case "tools":
      return {
        uid,
        message: {
          role: "user",
          content: one.results.map(({ id, text }) => ({
            type: "tool_result",
            tool_use_id: id,
            content: text,
          })),
        },
      };
  }
}

const messages: Writer = (
  said,
  { model, head, tools, marks, reminder, forgetsThinking, maxTokens, more },
) =>
  draft(
    "/v1/messages",
    "messages",
    {
      model,
      stream: true,
      max_tokens: maxTokens ?? 4096,
      system: head.map((text, index) => ({
        type: "text",
        text,
        ...(marks && index === head.length - 1 && { cache_control: MARK }),
      })),
      tools: tools.map((name) => ({ name, input_schema: { type: "object" } })),
      ...more,
    },
    marked(
      reminded(
        said.map((one) => messageOf(one, forgetsThinking)),
        reminder,
      ),
      marks === true,
    ),
  );

const MARK = { type: "ephemeral" };

const blocksOf = ({ content }: Part): Part[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : (content as Part[]);

function reminded(written: Written[], reminder: string | undefined): Written[] {
  const last = written.at(-1);
  if (reminder === undefined || last === undefined || last.message.role !== "user") return written;
  const content = [...blocksOf(last.message), { type: "text", text: reminder }];
  return [...written.slice(0, -1), { ...last, message: { ...last.message, content } }];
}

/** A text that bears a marker is a block; one that bears none any more is a text again. */
function marked(written: Written[], marks: boolean): Written[] {
  const last = written.at(-1);
  if (!marks || last === undefined) return written;
  const blocks = blocksOf(last.message);
  const block = { ...blocks.at(-1), cache_control: MARK };
  return [
    ...written.slice(0, -1),
    {
      ...last,
      message: {
        ...last.message,
        content: [...blocks.slice(0, -1), block],
        ...(last.message.role === "system" && { output_config: { effort: "high" } }),
      },
    },
  ];
}

function contentOf(one: Said, ids: boolean): Written {
  const { uid } = one;
  const own = (id: string) => (ids ? { id } : {});
  switch (one.by) {
    case "person":
    case "system":
      return { uid, message: { role: "user", parts: [{ text: one.text }] } };
    case "model":
      return {
        uid,
        message: {
          role: "model",
          parts: [
            ...(one.text ? [{ text: one.text }] : []),
            ...one.calls.map(({ id, name, args }, index) => ({
              functionCall: { ...own(id), name, args },
              ...(index === 0 && one.thinking && { thoughtSignature: "c2lnbmF0dXJl" }),
            })),
          ],
        },
      };
    case "tools":
      return {
        uid,
        message: {
          role: "user",
          parts: one.results.map(({ id, name, text }) => ({
            functionResponse: { ...own(id), name, response: { output: text } },
          })),
        },
      };
  }
}

const google: Writer = (said, { model, head, tools, ids = true, maxTokens, more }) =>
  draft(
    `/v1beta/models/${model}:streamGenerateContent`,
    "contents",
    {
      systemInstruction: { parts: head.map((text) => ({ text })) },
      ...(maxTokens && { generationConfig: { maxOutputTokens: maxTokens } }),
      ...(tools.length > 0 && {
        tools: [{ functionDeclarations: tools.map((name) => ({ name })) }],
      }),
      ...more,
    },
    said.map((one) => contentOf(one, ids)),
  );

const WRITERS: Readonly<Record<DoorApi, Writer>> = {
  "openai-completions": chat,
  "openai-responses": responses,
  "anthropic-messages": messages,
  "google-generative-ai": google,
};
