// Posts a request to the door, and leaves in the middle where it is told to.
import { type IncomingHttpHeaders, request } from "node:http";

export interface PostedRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Milliseconds after which it leaves; "early": with the first bytes. Absent: it stays. */
  leaves?: number | "early";
  signal: AbortSignal;
}

export interface PostedAnswer {
  /** 0: none came. */
  status: number;
  headers: IncomingHttpHeaders;
  /** As far as it came. */
  text: string;
  /** True: to its end. */
  isComplete: boolean;
}

/** Never rejects: what breaks off is an answer, too. */
export function post({ url, headers, body, leaves, signal }: PostedRequest): Promise<PostedAnswer> {
  return new Promise((resolve) => {
    const answer: PostedAnswer = { status: 0, headers: {}, text: "", isComplete: false };
    const pieces: Buffer[] = [];
    const outgoing = request(url, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      signal,
    });
    const leave = () => outgoing.destroy();
    const timer = typeof leaves === "number" ? setTimeout(leave, leaves) : undefined;
    outgoing.on("response", (response) => {
      answer.status = response.statusCode ?? 0;
      answer.headers = response.headers;
      response.on("data", (piece: Buffer) => {
        pieces.push(piece);
        // What was read with it is heard, too; who has read all of it closes in order.
        if (leaves === "early" && pieces.length === 1) setImmediate(leave);
      });
      response.on("end", () => {
        answer.isComplete = response.complete;
      });
      response.on("error", () => {});
    });
    outgoing.on("error", () => {});
    outgoing.on("close", () => {
      clearTimeout(timer);
      resolve({ ...answer, text: Buffer.concat(pieces).toString() });
    });
    outgoing.end(body);
  });
}
