// Lets programs ask their models without the keys for that.
import { randomBytes } from "node:crypto";
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import type { Failure } from "@clew/providers";
import { askUpstream } from "../passing/ask-upstream.ts";
import { headersBack, headersOnward } from "../passing/pass-headers.ts";
import type { RawHeaders } from "../passing/raw-headers.ts";
import { failureOf, readRefusal } from "../passing/refusal.ts";

/** Where a program's requests go on to. */
export interface RelayTarget {
  /** Its paths are those that the program asks for. */
  baseUrl: string;
  /** By which the gateway signs in there, of this moment. */
  signInHeaders(): Promise<Record<string, string>>;
  /** Told how each call of a model went. Absent: nobody is. */
  answered?(call: RelayedCall): void;
}

export interface RelayedCall {
  /** Null: it was answered. */
  failure: Failure | null;
  /** As the program asked. */
  request: Uint8Array;
}

/** What a program is told in place of that. */
export interface RelayPlace {
  baseUrl: string;
  /** Means something to the relay alone, and only until it is closed. */
  key: string;
  close(): void;
}

export interface Relay {
  open(target: RelayTarget): Promise<RelayPlace>;
  /** Requests under way are broken off. */
  close(): Promise<void>;
}

const LARGEST_REQUEST = 64 * 1024 * 1024;
/** Models may think for long before they say anything, ms. */
const IDLE_MS = 600_000;
/** What else a program asks for is no call of a model. */
const CALLS = /\/(messages|responses)(\?|$)/;
const BEARER = /^Bearer\s+/i;

/** Listens on loopback once a program is to be started, and not before. */
export function createRelay(): Relay {
  const targets = new Map<string, RelayTarget>();
  let listening: Promise<Server> | undefined;

  const answer: RequestListener = (request, response) => {
    pass(request, response, targets.get(keyOf(request))).catch((error: unknown) => {
      if (response.headersSent) return void response.destroy();
      const said = error instanceof Error ? error.message : String(error);
      refuse(response, 502, `Clew could not ask the model: ${said}`);
    });
  };
  return {
    async open(target) {
      listening ??= listen(answer);
      const { port } = (await listening).address() as AddressInfo;
      const key = `clew-${randomBytes(24).toString("hex")}`;
      targets.set(key, target);
      return {
        baseUrl: `http://127.0.0.1:${port}`,
        key,
        close: () => void targets.delete(key),
      };
    },
    async close() {
      targets.clear();
      const server = await listening?.catch(() => undefined);
      server?.closeAllConnections();
      server?.close();
    },
  };
}

function listen(answer: RequestListener): Promise<Server> {
  const server = createServer(answer);
  // A gateway that ends waits for no program.
  server.unref();
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve(server));
  });
}

const keyOf = ({ headers }: IncomingMessage): string => {
  const bearer = headers.authorization?.replace(BEARER, "");
  const own = headers["x-api-key"];
  return bearer ?? (typeof own === "string" ? own : "");
};

async function pass(
  request: IncomingMessage,
  response: ServerResponse,
  target: RelayTarget | undefined,
): Promise<void> {
  if (target === undefined) return refuse(response, 401, "This key means nothing here any more.");
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > LARGEST_REQUEST) return refuse(response, 413, "The request is too large.");
    chunks.push(chunk);
  }
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const { "anthropic-version": _its, ...own } = await target.signInHeaders();
  const body = Buffer.concat(chunks);
  const isCall = CALLS.test(request.url ?? "");
  const answered = (failure: Failure | null) => {
    if (isCall && !gone.signal.aborted) target.answered?.({ failure, request: body });
  };
  const answer = await askUpstream({
    ...{ method: request.method ?? "POST", url: `${target.baseUrl}${request.url ?? ""}` },
    headers: headersOnward({
      ...{ headers: rawHeaders(request), own: lowerCased(own), passesKey: false },
      tokens: [],
    }),
    ...{ body, signal: gone.signal, idleMs: IDLE_MS },
  }).catch((cause: unknown) => {
    answered({ kind: "network", cause });
    throw cause;
  });
  if (answer.status >= 400) {
    const refusal = await readRefusal(answer);
    answered(failureOf(refusal));
    response.writeHead(refusal.status, headersBack(refusal.headers).flat() as string[]);
    return void response.end(refusal.body);
  }
  answered(null);
  response.writeHead(answer.status, headersBack(answer.headers).flat() as string[]);
  for await (const piece of answer.bytes)
    if (!response.write(piece))
      await new Promise((resolve) => {
        response.once("drain", resolve);
        response.once("close", resolve);
      });
  response.end();
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { "content-type": "application/json", connection: "close" });
  response.end(JSON.stringify({ type: "error", error: { type: "clew", message } }));
}

const rawHeaders = ({ rawHeaders: raw }: IncomingMessage): RawHeaders =>
  raw.flatMap((name, at): RawHeaders => (at % 2 === 0 ? [[name, raw[at + 1] ?? ""]] : []));

const lowerCased = (headers: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
