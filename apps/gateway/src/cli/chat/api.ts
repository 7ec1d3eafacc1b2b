// The calls of the HTTP API that a chat at a terminal makes.
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { CommandAnswer } from "../../commands/answer.ts";
import type { StatusFacts } from "../../commands/status.ts";
import type { WhenBusy } from "../../config/when-busy.ts";
import type { GatewayEvent } from "../../events/shapes.ts";
import type { StreamedEvent } from "../../http/event-stream.ts";
import { readEvents } from "../../http/read-events.ts";
import type { ChatPort } from "./port.ts";

export interface SessionEntries {
  key: string;
  /** Null: there are more, and nobody has counted them. */
  totalEntries: number | null;
  entries: TranscriptEntry[];
}

/** What came of a text that was sent. */
export type Sent =
  | { kind: "answered" }
  /** It is in the conversation, whose events tell the rest. */
  | { kind: "said" }
  /** It is not in the conversation. */
  | { kind: "refused"; code: string; message: string };

export interface ChatApi {
  /** From now on, or from behind the event `since`; ends with the connection. */
  events(key: string, since: string | undefined, signal: AbortSignal): AsyncGenerator<GatewayEvent>;
  /**
   * Sent again under its name, a message is not said again. `onAnswer`: the text was a command,
   * which may go on to say something.
   */
  send(
    key: string,
    message: { text: string; name: string },
    onAnswer: (answer: CommandAnswer) => void,
  ): Promise<Sent>;
  /** Its newest entries; null when nothing was said in it yet. */
  entries(key: string, limit: number): Promise<SessionEntries | null>;
  status(key: string): Promise<StatusFacts>;
  sessions(): Promise<{ key: string; label?: string; updatedAt: string }[]>;
  cancel(key: string): Promise<void>;
}

const pathOf = (key: string) => `/api/sessions/${encodeURIComponent(key)}`;

export function createChatApi(
  { fetch }: Pick<ChatPort, "fetch">,
  whenBusy?: WhenBusy | undefined,
): ChatApi {
  const json = async <Body>(path: string, init?: RequestInit): Promise<Body> => {
    const response = await fetch(path, init);
    if (!response.ok) throw new Error(await reasonOf(response));
    return (await response.json()) as Body;
  };
  return {
    async *events(key, since, signal) {
      const place = since === undefined ? "" : `&since=${encodeURIComponent(since)}`;
      const path = `/api/events?session=${encodeURIComponent(key)}${place}`;
      const { body } = await fetch(path, { signal });
      if (body !== null) yield* readEvents<GatewayEvent>(body);
    },
    async send(key, { text, name }, onAnswer) {
      const response = await fetch(`${pathOf(key)}/messages`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ text, whenBusy, idempotencyKey: name }),
      });
      if (!response.ok || response.body === null) return refusalOf(response);
      return endOf(readEvents<StreamedEvent>(response.body), onAnswer);
    },
    async entries(key, limit) {
      const response = await fetch(`${pathOf(key)}?limit=${limit}`);
      if (response.status === 404) return null;
      if (!response.ok) throw new Error(await reasonOf(response));
      return (await response.json()) as SessionEntries;
    },
    status: (key) => json(`${pathOf(key)}/status`),
    sessions: async () =>
      (await json<{ sessions: { key: string; updatedAt: string }[] }>("/api/sessions")).sessions,
    cancel: async (key) => void (await fetch(`${pathOf(key)}/abort`, { method: "POST" })),
  };
}

async function endOf(
  events: AsyncGenerator<StreamedEvent>,
  onAnswer: (answer: CommandAnswer) => void,
): Promise<Sent> {
  let end: Sent = { kind: "said" };
  for await (const event of events) {
    if (event.type === "command") {
      const { type: _type, ...answer } = event;
      onAnswer(answer);
      end = { kind: "answered" };
    } else if (event.type === "error") end = { kind: "refused", ...event.error };
  }
  return end;
}

async function refusalOf(response: Response): Promise<Sent> {
  const { code, message } = await errorOf(response);
  return { kind: "refused", code, message };
}

const reasonOf = async (response: Response): Promise<string> => {
  const { code, message } = await errorOf(response);
  return `${message} [${code}]`;
};

async function errorOf(response: Response): Promise<{ code: string; message: string }> {
  const body = (await response.json().catch(() => null)) as {
    error?: { code?: string; message?: string };
  } | null;
  return {
    code: body?.error?.code ?? "HTTP",
    message: body?.error?.message ?? `The gateway answered ${response.status}.`,
  };
}
