// Ends an answer of a server over HTTP that is larger than a message may be.
import { McpFailure } from "./program-transport.ts";
import { MESSAGE_BYTES } from "./server.ts";

export interface BoundedFetch {
  fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** Set once an answer was too large, until the next request. */
  failure(): McpFailure | undefined;
}

/** Only answers to what was asked: a stream of news has no end, and no size. */
export function boundedFetch(mostBytes = MESSAGE_BYTES): BoundedFetch {
  let failure: McpFailure | undefined;
  return {
    failure: () => failure,
    async fetch(url, init) {
      failure = undefined;
      const answer = await fetch(url, init);
      if (answer.body === null || init?.method !== "POST") return answer;
      let bytes = 0;
      const counted = answer.body.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform(piece, controller) {
            bytes += piece.byteLength;
            if (bytes <= mostBytes) return controller.enqueue(piece);
            const text = `it sent a message of more than ${mostBytes / 1024 / 1024} MiB`;
            failure = new McpFailure("too-large", text);
            controller.error(failure);
          },
        }),
      );
      const { status, statusText, headers } = answer;
      return new Response(counted, { status, statusText, headers });
    },
  };
}
