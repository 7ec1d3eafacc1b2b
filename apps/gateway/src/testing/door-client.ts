// A client of each wire, which says what a test wants and reads what it is answered.

import type { Said } from "../door/testing/conversation.ts";
import { readReply } from "../door/testing/read-reply.ts";
import { writeRequest } from "../door/testing/write-request.ts";
import type { DoorApi } from "../door/wires/door-wire.ts";
import { post, type TestGateway } from "./gateway.ts";

export interface Sent {
  /** Absent: none is named. */
  session?: string;
  streaming?: boolean;
  tools?: readonly string[];
  head?: readonly string[];
  more?: Record<string, unknown>;
  signal?: AbortSignal;
  /** Absent: "clew". */
  model?: string;
  headers?: Record<string, string>;
}

export const person = (text: string): Said => ({ uid: null, by: "person", text });
export const results = (...given: { id: string; name: string; text: string }[]): Said => ({
  ...{ uid: null, by: "tools" },
  results: given,
});

export async function request(
  { get }: Pick<TestGateway, "get">,
  api: DoorApi,
  said: readonly Said[],
  {
    session,
    streaming = false,
    tools = [],
    head = [],
    more = {},
    signal,
    model = "clew",
    headers: others = {},
  }: Sent = {},
): Promise<Response> {
  const writing = { model, head, tools, maxTokens: 500 };
  const { path, body } = writeRequest(api, said, writing);
  const isGoogle = api === "google-generative-ai";
  const at = isGoogle
    ? `/v1beta/models/${model}:${streaming ? "streamGenerateContent?alt=sse" : "generateContent"}`
    : path;
  const init = post({
    ...body,
    ...(!isGoogle && { stream: streaming }),
    ...(api === "openai-completions" && streaming && { stream_options: { include_usage: true } }),
    ...more,
  });
  const headers = {
    ...(init.headers as Record<string, string>),
    ...(session !== undefined && { "x-clew-session": session }),
    ...others,
  };
  return get(at, { ...init, headers, ...(signal && { signal }) });
}

export async function ask(
  gateway: Pick<TestGateway, "get">,
  api: DoorApi,
  said: readonly Said[],
  sent: Sent = {},
) {
  const answer = await request(gateway, api, said, sent);
  const text = await answer.text();
  const { last } = readReply(api, text, answer.headers.get("content-type") ?? "");
  const message = last.type === "done" ? last.message : last.partial;
  return {
    answer,
    body: text,
    error: last.type === "error" ? last.error : null,
    text: message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(""),
    thinking: message.content
      .flatMap((block) => (block.type === "thinking" ? [block.thinking] : []))
      .join(""),
    calls: message.content.filter((block) => block.type === "toolCall"),
    stopReason: message.stopReason,
    usage: message.usage,
    id: message.responseId,
  };
}
