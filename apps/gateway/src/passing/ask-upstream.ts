// Sends a request on to a model server as it is, and hands its answer back as it comes.
import {
  type Agent,
  type ClientRequest,
  type IncomingMessage,
  request as requestPlain,
} from "node:http";
import { request as requestTls } from "node:https";
import type { Usage } from "@clew/plugin-sdk/core";
import type { RawHeaders } from "./raw-headers.ts";

export interface UpstreamRequest {
  method: string;
  url: string;
  headers: RawHeaders;
  body: Uint8Array;
  signal: AbortSignal;
  /** Longest silence, ms. */
  idleMs: number;
  /** Whose connections are used. Absent: those that all share. */
  agent?: Agent;
}

export interface UpstreamAnswer {
  status: number;
  headers: RawHeaders;
  /** Ends early, by throwing, where the answer breaks off. */
  bytes: AsyncIterable<Uint8Array>;
  /**
   * What the model server says that the reply took, once the bytes are at their end. Absent, or
   * undefined: only they may tell.
   */
  usage?: () => Usage | undefined;
}

/**
 * Redirects are not followed: they are answers like others. Throws what the network does, and an
 * AbortError.
 */
export async function askUpstream(asked: UpstreamRequest): Promise<UpstreamAnswer> {
  try {
    return await askOnce(asked);
  } catch (error) {
    // A connection that was kept may have been closed in the same moment: nothing was read of it.
    if (!(error instanceof StaleConnectionError)) throw error;
    return askOnce(asked);
  }
}

class StaleConnectionError extends Error {}

function askOnce(asked: UpstreamRequest): Promise<UpstreamAnswer> {
  const { method, url, headers, body, signal, idleMs, agent } = asked;
  const address = new URL(url);
  const hasBody = body.length > 0 || method === "POST" || method === "PUT";
  const all = hasBody ? [...headers, ["content-length", String(body.length)] as const] : headers;
  return new Promise((resolve, reject) => {
    const send = address.protocol === "https:" ? requestTls : requestPlain;
    const sent = send(address, {
      ...{ method, headers: ["host", address.host, ...all.flat()], signal },
      ...(agent !== undefined && { agent }),
    });
    sent.setTimeout(idleMs, () => sent.destroy(silentFor(idleMs)));
    sent.once("response", (answer) => resolve(answerOf(answer)));
    // Whoever listens for it has the connection; nobody else would hear that it is one no more.
    sent.once("upgrade", (_answer, socket) => {
      socket.destroy();
      reject(new Error("101 Switching Protocols, which nobody asked for"));
    });
    sent.once("error", (error: NodeJS.ErrnoException) =>
      reject(isStale(sent, error) ? new StaleConnectionError(error.message) : error),
    );
    sent.end(body);
  });
}

const isStale = (sent: ClientRequest, { code }: NodeJS.ErrnoException) =>
  sent.reusedSocket && (code === "ECONNRESET" || code === "EPIPE");

function answerOf(answer: IncomingMessage): UpstreamAnswer {
  const { rawHeaders, statusCode = 502 } = answer;
  const headers = rawHeaders.flatMap(
    (name, index): RawHeaders => (index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ""]] : []),
  );
  return { status: statusCode, headers, bytes: answer };
}

const silentFor = (idleMs: number) =>
  Object.assign(new Error(`it sent nothing for ${idleMs / 1000} s`), { code: "ETIMEDOUT" });
