// Keeps bytes by their hash in S3-compatible storage.
import { setTimeout as after } from "node:timers/promises";
import type { Blobs } from "@clew/store-postgres";
import { AwsV4Signer } from "aws4fetch";
import { agentPrefix, objectKey } from "./object-key.ts";
import { codeIn, mayPass, refusal, type S3Action, type S3Place, silence } from "./s3-error.ts";

/** Keys that sign. */
export interface S3Keys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

export interface S3Options extends S3Place {
  /** Before all keys; ends with a slash, unless it is empty. */
  prefix: string;
  /** Asked before each request, so that they may be renewed. Throws a sentence. */
  keys(): Promise<S3Keys>;
  /**
   * All attempts together take no longer, ms; what is sent, or came, gives them more by its size.
   */
  timeoutMs?: number;
  /** Before the first repetition, ms; twice as long before each further one. */
  firstWaitMs?: number;
}

const RETRIES = 3;
/** A turn waits for what is put, and goes on without; whoever reads cannot. */
const PUT_WITHIN_MS = 5_000;
const WITHIN_MS = 10_000;
/** The part of that time for which one attempt hears nothing. */
const SILENT_FOR = 0.5;
const NO_BODY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/** Slower than this nobody's connection is, bytes per ms. */
const SLOWEST = 100;
const DROPPED_AT_ONCE = 8;

interface S3Request {
  action: S3Action;
  /** Behind the bucket. */
  key: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: Uint8Array;
  /** SHA-256 of the body, in hex. */
  hash?: string;
}

/** Addresses have the bucket in their path, which every such storage knows. */
export function s3Blobs(options: S3Options): Blobs {
  const { bucket, region, prefix, firstWaitMs = 200 } = options;
  const root = `${options.url.replace(/\/+$/, "")}/${bucket}`;

  async function prepare(
    request: S3Request,
    signal: AbortSignal,
  ): Promise<() => Promise<Response>> {
    const { action, key, query, headers, body, hash = NO_BODY } = request;
    const url = new URL(`${root}/${key}`.replace(/\/$/, ""));
    for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
    const method = action === "LIST" ? "GET" : action;
    const signer = new AwsV4Signer({
      ...{ method, url: url.href, service: "s3", region, ...(await options.keys()) },
      headers: { "x-amz-content-sha256": hash },
    });
    const signed = await signer.sign();
    const init: RequestInit = {
      ...{ method, redirect: "manual", signal },
      headers: { ...headers, ...Object.fromEntries(signed.headers) },
      ...(body !== undefined && { body: body as Uint8Array<ArrayBuffer> }),
    };
    return () => fetch(signed.url, init);
  }
  /** What did not pass by itself after some attempts is thrown. */
  async function insist<Result>(
    request: S3Request,
    take: (response: Response, onCame: (bytes: number) => void) => Promise<Result>,
    next: () => S3Request = () => request,
  ): Promise<Result> {
    const { timeoutMs = request.action === "PUT" ? PUT_WITHIN_MS : WITHIN_MS } = options;
    const patience = patienceFor(timeoutMs, request.body?.length ?? 0);
    for (let retry = 0; ; retry++) {
      let response: Response | undefined;
      const attempt = patience.begin();
      const send = await prepare(next(), attempt.signal);
      let refused: { status: number; code: string } | undefined;
      try {
        response = await send();
        if (response.ok) return await take(response, attempt.came);
        const code = codeIn(await response.text().catch(() => ""));
        refused = { status: response.status, code };
      } catch (error) {
        await response?.body?.cancel().catch(() => {});
        if (retry === RETRIES || patience.isOver()) throw silence(options, error);
      } finally {
        attempt.end();
      }
      if (refused !== undefined) {
        const { status, code } = refused;
        if (status === 404 && request.action !== "LIST" && code !== "NoSuchBucket")
          throw new Missing();
        if (status === 416) throw new BehindItsEnd();
        if (retry === RETRIES || patience.isOver() || !mayPass(status))
          throw refusal(options, request.action, refused);
      }
      await after(firstWaitMs * 2 ** retry * (0.5 + Math.random()));
    }
  }
  /** What was cut off goes on behind what came. */
  async function read(key: string, [from, to]: readonly [number, number]): Promise<Uint8Array> {
    const pieces: Uint8Array[] = [];
    let got = 0;
    const request: S3Request = { action: "GET", key };
    const next = (): S3Request =>
      from + got === 0 && to === Infinity
        ? request
        : { ...request, headers: { range: rangeOf(from + got, to) } };
    await insist(
      request,
      async (response, onCame) => {
        // Whoever does not know ranges sends all of it.
        let skip = response.status === 206 ? 0 : from + got;
        for await (const piece of response.body ?? []) {
          const wanted = piece.subarray(Math.min(skip, piece.length));
          skip -= piece.length - wanted.length;
          onCame(piece.length);
          pieces.push(wanted);
          got += wanted.length;
        }
      },
      next,
    );
    return new Uint8Array(Buffer.concat(pieces)).subarray(0, to - from);
  }

  return {
    place: `the bucket "${bucket}" at ${options.url}`,
    async put(name, bytes) {
      const request = { action: "PUT", key: objectKey(prefix, name), body: bytes } as const;
      await insist({ ...request, hash: name.hash }, drain);
    },
    async get(name, range) {
      const key = objectKey(prefix, name);
      const [from, to] = range ?? [0, Infinity];
      try {
        if (to > from) return await read(key, [from, to]);
        await read(key, [0, 1]);
        return new Uint8Array();
      } catch (error) {
        if (error instanceof Missing) return null;
        if (error instanceof BehindItsEnd) return new Uint8Array();
        throw error;
      }
    },
    async list(agentId, behind) {
      const start = agentPrefix(prefix, agentId);
      const query = {
        ...{ "list-type": "2", prefix: start, "max-keys": "1000" },
        ...(behind !== null && { "start-after": objectKey(prefix, { agentId, hash: behind }) }),
      };
      const text = await insist({ action: "LIST", key: "", query }, (response) => response.text());
      return [...text.matchAll(/<Key>[^<]*\/([0-9a-f]{64})<\/Key>/g)].map(([, hash]) => hash!);
    },
    async drop(agentId, hashes) {
      const left = [...hashes];
      const one = async () => {
        for (let hash = left.pop(); hash !== undefined; hash = left.pop()) {
          const key = objectKey(prefix, { agentId, hash });
          await insist({ action: "DELETE", key }, drain).catch(unlessMissing(undefined));
        }
      };
      await Promise.all(Array.from({ length: Math.min(DROPPED_AT_ONCE, left.length) }, one));
    },
  };
}

/** How long to wait for attempts that belong together. */
function patienceFor(timeoutMs: number, sentBytes: number) {
  const began = performance.now();
  const silentMs = timeoutMs * SILENT_FOR + sentBytes / SLOWEST;
  let bytes = sentBytes;
  const leftMs = () => began + timeoutMs + bytes / SLOWEST - performance.now();
  return {
    isOver: () => leftMs() <= 0,
    /** The signal fires when the attempt was silent for too long, or all took too long. */
    begin() {
      const tooLate = new AbortController();
      const giveUp = () => tooLate.abort(new DOMException("It took too long.", "TimeoutError"));
      const wait = () => setTimeout(giveUp, Math.max(0, Math.min(silentMs, leftMs())));
      let timer = wait();
      return {
        signal: tooLate.signal,
        came(count: number) {
          bytes += count;
          clearTimeout(timer);
          timer = wait();
        },
        end: () => clearTimeout(timer),
      };
    },
  };
}

/** There is no such object. */
class Missing extends Error {}
/** There is one, and nothing of it is asked for. */
class BehindItsEnd extends Error {}

const unlessMissing =
  <Instead>(instead: Instead) =>
  (error: unknown): Instead => {
    if (error instanceof Missing) return instead;
    throw error;
  };

const drain = async (response: Response): Promise<void> => {
  await response.arrayBuffer();
};

const rangeOf = (from: number, to: number): string =>
  `bytes=${from}-${to === Infinity ? "" : to - 1}`;
