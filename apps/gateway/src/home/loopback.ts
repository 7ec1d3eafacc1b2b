// Sends requests to a port of this machine, bounded where it may belong to a stranger.
import { type IncomingMessage, request } from "node:http";
import { Readable } from "node:stream";

export interface LoopbackRequest {
  port: number;
  path: string;
  method?: string;
  headers?: Record<string, string>;
  timeoutMs: number;
  /** A longer body ends the request. */
  maxBytes: number;
}

export type LoopbackAnswer =
  | { kind: "answer"; status: number; text: string }
  /** Nobody listens. */
  | { kind: "closed" }
  /** Somebody listens, but said nothing, or not all of it, in time. */
  | { kind: "silent" }
  /** Somebody listens who speaks no HTTP, hangs up, or does not stop. */
  | { kind: "garbage" };

/** Not `fetch`: it refuses some ports, follows redirects and may go through a proxy. */
export function askLoopback(options: LoopbackRequest): Promise<LoopbackAnswer> {
  const { port, path, method = "GET", headers = {}, timeoutMs, maxBytes } = options;
  return new Promise((resolve) => {
    const sent = request({ host: "127.0.0.1", port, path, method, headers, agent: false });
    const finish = (answer: LoopbackAnswer) => {
      clearTimeout(timer);
      sent.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => finish({ kind: "silent" }), timeoutMs);
    sent.on("error", ({ code }: NodeJS.ErrnoException) =>
      finish({ kind: code === "ECONNREFUSED" ? "closed" : "garbage" }),
    );
    sent.on("response", (response) => {
      const pieces: Buffer[] = [];
      let size = 0;
      response.on("data", (piece: Buffer) => {
        size += piece.length;
        if (size > maxBytes) finish({ kind: "garbage" });
        else pieces.push(piece);
      });
      response.on("error", () => finish({ kind: "garbage" }));
      response.on("end", () =>
        finish({
          kind: "answer",
          status: response.statusCode ?? 0,
          text: Buffer.concat(pieces).toString("utf8"),
        }),
      );
    });
    sent.end();
  });
}

export interface StreamedRequest {
  port: number;
  path: string;
  method: string;
  headers: Record<string, string>;
  body: string | undefined;
  signal: AbortSignal | undefined;
}

/** Of one's own gateway only, as nothing is bounded. Rejects when it does not answer. */
export function streamLoopback(options: StreamedRequest): Promise<Response> {
  const { body, signal, ...asked } = options;
  return new Promise((resolve, reject) => {
    const given = { host: "127.0.0.1", agent: false, ...(signal !== undefined && { signal }) };
    const sent = request({ ...given, ...asked });
    sent.on("error", reject);
    sent.on("response", (response) => resolve(toResponse(response)));
    sent.end(body);
  });
}

function toResponse(response: IncomingMessage): Response {
  const { statusCode: status = 502 } = response;
  const isEmpty = status === 204 || status === 304;
  const body = isEmpty ? null : (Readable.toWeb(response) as ReadableStream<Uint8Array>);
  const headers = Object.entries(response.headersDistinct).flatMap(([name, values = []]) =>
    values.map((value): [string, string] => [name, value]),
  );
  return new Response(body, { status, headers });
}
