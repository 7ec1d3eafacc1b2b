// Sends one bounded request to a port of this machine that may belong to a stranger.
import { request } from "node:http";

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
