// What answers an editor, in this process or in the gateway of the home.
import { type AnyMessage, ndJsonStream } from "@agentclientprotocol/sdk";
import type { OwnGateway } from "../gateway-client.ts";
import { connectEditor, type EditorConnectionOptions } from "./agent.ts";
import { createPipe } from "./pipe.ts";
import { AcpRefusal } from "./refusal.ts";

export interface Backend {
  /** Null: it is gone, and the message has reached nobody. Rejects when it is refused. */
  send(message: AnyMessage): Promise<"taken" | null>;
  /** Ends when it is gone. */
  readonly messages: AsyncIterable<AnyMessage>;
  /** What the editor asked for is ended; resolves when that is stored, as far as it is here. */
  close(): Promise<void>;
}

export function openHere(options: EditorConnectionOptions): Backend {
  let output: ReadableStreamDefaultController<AnyMessage> | undefined;
  const messages = new ReadableStream<AnyMessage>({
    start(controller) {
      output = controller;
    },
    cancel() {
      output = undefined;
    },
  });
  const pipe = createPipe((message) => output?.enqueue(message));
  const { closed } = connectEditor(options, pipe.stream);
  void closed.finally(() => {
    output?.close();
    output = undefined;
  });
  return {
    messages,
    async send(message) {
      pipe.push(message);
      return "taken";
    },
    async close() {
      pipe.end();
      await closed;
    },
  };
}

const NDJSON = { "content-type": "application/x-ndjson" };

/** Throws AcpRefusal where the gateway does not take editors. */
export async function openThere(gateway: OwnGateway, agentId: string | null): Promise<Backend> {
  const gone = new AbortController();
  const { signal } = gone;
  const asked = agentId === null ? "" : `?agent=${encodeURIComponent(agentId)}`;
  const opened = await gateway.fetch(`/api/acp${asked}`, { method: "POST", signal });
  if (opened.status !== 200 || opened.body === null) throw await refused(opened);
  const bytes = opened.body as ReadableStream<Uint8Array>;
  const lines = ndJsonStream(new WritableStream<Uint8Array>(), bytes).readable.getReader();
  const first = (await lines.read()).value as { connection?: string } | undefined;
  if (first?.connection === undefined) throw new AcpRefusal(-32603, "The gateway went away.");
  const path = `/api/acp/${first.connection}`;
  return {
    async send(message) {
      const body = JSON.stringify(message);
      const answer = await gateway
        .fetch(path, { method: "POST", headers: NDJSON, body })
        .catch((error: NodeJS.ErrnoException) => {
          if (error.code === "ECONNREFUSED") return null;
          throw error;
        });
      // A gateway that was started anew knows neither this one nor its secret.
      if (answer === null || answer.status === 404 || answer.status === 403) return null;
      if (!answer.ok) throw await refused(answer);
      await answer.body?.cancel();
      return "taken";
    },
    messages: (async function* () {
      for (;;) {
        const { value, done } = await lines.read().catch(() => ({ value: undefined, done: true }));
        if (done || value === undefined) return;
        yield value;
      }
    })(),
    async close() {
      gone.abort();
    },
  };
}

async function refused(answer: Response): Promise<AcpRefusal> {
  const body = (await answer.json().catch(() => null)) as {
    error?: { code?: string; message?: string };
  } | null;
  const { code = "HTTP", message = `The gateway answered ${answer.status}.` } = body?.error ?? {};
  const older = answer.status === 404 ? " It may be older than this command; restart it." : "";
  return new AcpRefusal(-32603, `${message}${older}`, { code });
}
