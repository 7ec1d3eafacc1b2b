// A loopback model that does what each message tells it, and keeps every request.
import {
  createOpenAIEmulator,
  type Emulator,
  type EmulatorAnswer,
  type ReceivedRequest,
} from "@clew/providers/testing";

/** One message of a request, as it was sent. */
export interface SentMessage {
  role: string;
  text: string;
}

/** One request, told in few words. */
export interface SentRequest {
  messages: SentMessage[];
  tools: string[];
  /** The host's own question for a summary. */
  isSummary: boolean;
  /** Tokens of the prompt as the server counts them; 0 = it was refused. */
  tokens: number;
  violations: readonly { rule: string; text: string }[];
}

export interface ModelServer {
  readonly baseUrl: string;
  /** Those since the last call of this. */
  newRequests(): SentRequest[];
  close(): Promise<void>;
}

/** What the model says when it is asked for a summary. */
export const SUMMARY = "Summary by the model: files were read, and the harbour was named.";

export async function startModelServer(): Promise<ModelServer> {
  const refused = new Map<string, number>();
  const server: Emulator = await createOpenAIEmulator({
    models: ["gpt-fake"],
    tolerant: true,
    answers: (request) => answer(request, refused),
  });
  let told = 0;
  return {
    baseUrl: server.baseUrl,
    newRequests() {
      const requests = server.requests.slice(told).filter(({ body }) => body?.messages);
      told = server.requests.length;
      return requests.map(tell);
    },
    close: () => server.close(),
  };
}

function answer({ body }: ReceivedRequest, refused: Map<string, number>): EmulatorAnswer {
  const messages = messagesOf(body);
  if (isSummary(messages, body)) return { text: SUMMARY };
  const at = messages.findLastIndex(isPersons);
  const said = messages[at]?.text ?? "";
  const [, tag = "", times = "0"] = /\[\[overflow:([\w-]+)x(\d+)\]\]/.exec(said) ?? [];
  const before = refused.get(tag) ?? 0;
  if (before < Number(times)) {
    refused.set(tag, before + 1);
    return { fault: "overflow", window: 32_000, observedTokens: 40_000 };
  }
  const calls = [...said.matchAll(/\[\[tool:(\w+) (\{.*?\})\]\]/g)];
  const next = calls[messages.slice(at + 1).filter(({ role }) => role === "tool").length];
  if (next !== undefined)
    return { toolCalls: [{ name: next[1]!, arguments: JSON.parse(next[2]!) as object as never }] };
  return { text: `Understood. ${"And so on. ".repeat(20)}` };
}

/** OpenClaw puts its own words behind the person's, as a user's. */
export const isPersons = ({ role, text }: SentMessage) =>
  role === "user" && !text.includes("<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>");

/** Pure. Without tools, and asked for nothing else. */
const isSummary = (messages: readonly SentMessage[], body: unknown) =>
  toolsOf(body).length === 0 && /summar/i.test(messages[0]?.text ?? "");

function tell({ body, bill, violations }: ReceivedRequest): SentRequest {
  const messages = messagesOf(body);
  return {
    ...{ messages, tools: toolsOf(body), isSummary: isSummary(messages, body), violations },
    tokens: bill === null ? 0 : bill.fresh + bill.read + bill.written + bill.writtenLong,
  };
}

function messagesOf(body: unknown): SentMessage[] {
  const { messages = [] } = body as { messages?: { role: string; content?: unknown }[] };
  return messages.map(({ role, content }) => ({ role, text: textOf(content) }));
}

const toolsOf = (body: unknown): string[] =>
  ((body as { tools?: { function?: { name?: string } }[] }).tools ?? []).flatMap(
    ({ function: { name } = {} }) => name ?? [],
  );

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return (content as { text?: string }[]).map(({ text = "" }) => text).join("\n");
}
