// Reads along what a model replies, while its bytes are passed on.
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
  type Gunzip,
} from "node:zlib";
import type { AssistantMessage } from "@clew/plugin-sdk/core";
import type { ModelError, StreamEvent } from "@clew/plugin-sdk/host";
import { anthropicMessages } from "@clew/providers/drivers/anthropic-messages";
import { googleGenerativeAi } from "@clew/providers/drivers/google-generative-ai";
import { openaiCompletions } from "@clew/providers/drivers/openai-completions";
import { openaiResponses } from "@clew/providers/drivers/openai-responses";
import { emptyCall } from "../../models/empty-call.ts";
import type { ResolvedModel } from "../../models/resolve.ts";
import type { UpstreamAnswer } from "../../passing/ask-upstream.ts";
import { headerOf } from "../../passing/raw-headers.ts";
import type { DoorApi } from "../wires/door-wire.ts";

/** A reply as far as it was read. */
export interface PeekedReply {
  message: AssistantMessage;
  /** Why it is not whole. Absent: it is. */
  error?: ModelError;
  /** True: it came with a status that says that all is well. Absent: it did not. */
  isStreamed?: true;
  /** True for ids that its model server did not give. Absent: it gave all. */
  madeUpIds?: (id: string) => boolean;
}

export interface ReplyPeek {
  /** The reply, once its end is in these bytes, or in ones before. */
  push(bytes: Uint8Array): Promise<PeekedReply | undefined>;
  /** The answer has ended, or broke off. */
  end(how: "whole" | "broken" | "gone"): Promise<PeekedReply>;
}

const DRIVERS = {
  "openai-completions": openaiCompletions,
  "openai-responses": openaiResponses,
  "anthropic-messages": anthropicMessages,
  "google-generative-ai": googleGenerativeAi,
} as const satisfies Record<DoorApi, unknown>;

/** By what the drivers' own ids begin. */
const MADE_UP: Partial<Record<DoorApi, (startedAt: number) => string>> = {
  "openai-completions": (startedAt) => `call_${startedAt.toString(36)}_0_`,
  "google-generative-ai": () => "noid",
};

const BROKEN: ModelError = { kind: "network", message: "The model server broke its answer off." };
const GONE: ModelError = { kind: "aborted", message: "The client went away." };

export function peekReply(input: {
  api: DoorApi;
  resolved: Pick<ResolvedModel, "model" | "endpoint">;
  answer: Pick<UpstreamAnswer, "headers" | "usage">;
  /** More is passed on and not read. */
  maxBytes: number;
  onEvent(event: StreamEvent): void;
}): ReplyPeek {
  const { api, resolved, maxBytes, onEvent } = input;
  const { headers, usage: toldUsage } = input.answer;
  const { model, endpoint } = resolved;
  const startedAt = Date.now();
  const decoder = DRIVERS[api].createDecoder({
    ...{ call: emptyCall(model), endpoint, now: () => startedAt },
    contentType: headerOf(headers, "content-type") ?? null,
  });
  const madeUp = MADE_UP[api]?.(startedAt);
  const madeUpIds = (id: string) => madeUp !== undefined && id.startsWith(madeUp);
  let ended: PeekedReply | undefined;
  let read = 0;
  const take = (events: readonly StreamEvent[]) => {
    for (const event of events) {
      if (event.type === "done") {
        const usage = toldUsage?.();
        ended ??= { message: { ...event.message, ...(usage && { usage }) }, madeUpIds };
      } else if (event.type === "error") {
        ended ??= { message: event.partial, error: event.error, madeUpIds, isStreamed: true };
      }
      onEvent(event);
    }
  };
  const feed = (bytes: Uint8Array) => {
    if (ended !== undefined) return;
    read += bytes.length;
    if (read > maxBytes)
      take(decoder.fail({ kind: "invalid_response", message: "It is too long." }));
    else take(decoder.push(bytes));
  };
  const unpack = unpacker(headerOf(headers, "content-encoding"), feed);
  return {
    async push(bytes) {
      await unpack.write(bytes);
      return ended;
    },
    async end(how) {
      await unpack.end();
      if (ended === undefined)
        take(how === "whole" ? decoder.end() : decoder.fail(how === "gone" ? GONE : BROKEN));
      ended ??= { message: { role: "assistant", content: [], stopReason: "error" }, error: BROKEN };
      return ended;
    },
  };
}

interface Unpacker {
  write(bytes: Uint8Array): Promise<void> | void;
  end(): Promise<void> | void;
}

const UNPACK: Readonly<Record<string, () => Gunzip>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** What cannot be unpacked is not read, and passed on all the same. */
function unpacker(packing: string | undefined, feed: (bytes: Uint8Array) => void): Unpacker {
  const name = packing?.trim().toLowerCase() ?? "identity";
  if (name === "identity" || name === "") return { write: feed, end: () => {} };
  const stream = UNPACK[name]?.();
  if (stream === undefined) return { write: () => {}, end: () => {} };
  let isBroken = false;
  stream.on("data", feed);
  const over = new Promise<void>((resolve) => {
    stream.once("end", resolve);
    stream.once("error", () => {
      isBroken = true;
      resolve();
    });
  });
  return {
    write: (bytes) =>
      isBroken
        ? undefined
        : Promise.race([
            over,
            // What was written is told a step after it was taken.
            new Promise<void>((resolve) => stream.write(bytes, () => setImmediate(resolve))),
          ]),
    async end() {
      if (!isBroken) stream.end();
      await over;
    },
  };
}
