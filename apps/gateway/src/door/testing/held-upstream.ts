// A model server of every wire whose replies stop in the middle until they may go on.
import type { ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import { wireAt } from "../wires/find-wire.ts";
import { startUpstream, type TestUpstream, type UpstreamHeard } from "./upstream.ts";
import { writeReply } from "./write-reply.ts";

export interface HeldStream {
  heard: UpstreamHeard;
  /** The rest, to its end. */
  finish(): void;
  /** It ends in the middle. */
  breakOff(): void;
  /** The gateway hung up. */
  closed: Promise<void>;
}

export interface HeldUpstream extends TestUpstream {
  /** The next request, of whose reply the words are on the way. */
  asked(): Promise<HeldStream>;
}

export const HELD_WORDS = "The parser drops the last line of its input.";
/** By which a reply is known to have come so far, in however many pieces. */
export const LAST_WORDS = "of its input.";

export async function startHeldUpstream(): Promise<HeldUpstream> {
  const streams: HeldStream[] = [];
  const askers: ((stream: HeldStream) => void)[] = [];
  const upstream = await startUpstream((heard, response) => {
    const stream = begin(heard, response);
    const asker = askers.shift();
    if (asker === undefined) streams.push(stream);
    else asker(stream);
  });
  onTestFinished(upstream.close);
  return {
    ...upstream,
    asked() {
      const stream = streams.shift();
      return stream === undefined
        ? new Promise((resolve) => void askers.push(resolve))
        : Promise.resolve(stream);
    },
  };
}

function begin(heard: UpstreamHeard, response: ServerResponse): HeldStream {
  const wire = wireAt(heard.url.split("?")[0]!)!;
  const reply = { text: HELD_WORDS, thinking: "", calls: [] };
  const usage = { input: 100, output: 20 };
  const written = writeReply(wire.api, reply, { id: "held", usage, streaming: true });
  const { contentType, pieces } = written;
  const said = pieces.findIndex((piece) => piece.includes(LAST_WORDS)) + 1;
  response.writeHead(200, { "content-type": contentType });
  for (const piece of pieces.slice(0, said)) response.write(piece);
  const closed = new Promise<void>((resolve) => void response.once("close", () => resolve()));
  return {
    ...{ heard, closed },
    finish() {
      for (const piece of pieces.slice(said)) response.write(piece);
      response.end();
    },
    breakOff: () => response.destroy(),
  };
}
