// Reads an answer that is no reply, so that it can be understood and passed on unchanged.
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from "node:zlib";
import type { ModelError } from "@clew/plugin-sdk/host";
import { classifyError, type Failure } from "@clew/providers";
import type { ResolvedModel } from "../models/resolve.ts";
import type { UpstreamAnswer } from "./ask-upstream.ts";
import { secretsIn } from "./pass-headers.ts";
import { headerOf, type RawHeaders } from "./raw-headers.ts";

export interface Refusal {
  status: number;
  headers: RawHeaders;
  /** As it came. */
  body: Uint8Array;
}

/** Nobody says more about an error. */
const MOST_BYTES = 4 * 2 ** 20;

/** What breaks off in the middle, or does not end, is as much as came. */
export async function readRefusal({ status, headers, bytes }: UpstreamAnswer): Promise<Refusal> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of bytes) {
      pieces.push(piece);
      size += piece.length;
      if (size > MOST_BYTES) break;
    }
  } catch {
    // The status says enough.
  }
  const kept = headers.filter(([name]) => name.toLowerCase() !== "content-length");
  const length = ["content-length", String(size)] as const;
  return { status, headers: [...kept, length], body: Buffer.concat(pieces) };
}

/** With its words unpacked. */
export function failureOf({ status, headers, body }: Refusal): Extract<Failure, { kind: "http" }> {
  const get = (name: string) => headerOf(headers, name.toLowerCase()) ?? null;
  return { kind: "http", status, headers: { get }, body: textOf(body, get("content-encoding")) };
}

export function classifyRefusal(
  refusal: Refusal,
  { upstream, call }: { upstream: { resolved: ResolvedModel }; call: { headers: RawHeaders } },
): ModelError {
  const { model, endpoint } = upstream.resolved;
  const secrets = secretsIn(call.headers);
  return classifyError(failureOf(refusal), {
    ...{ provider: model.provider, api: model.api, endpoint, now: Date.now, secrets },
  });
}

type Unpack = (bytes: Uint8Array, options: { maxOutputLength: number }) => Buffer;

const UNPACK: Readonly<Record<string, Unpack>> = {
  gzip: gunzipSync,
  deflate: inflateSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};

function textOf(body: Uint8Array, packing: string | null): string {
  const unpack = UNPACK[packing?.trim().toLowerCase() ?? ""];
  try {
    const bytes = unpack === undefined ? body : unpack(body, { maxOutputLength: MOST_BYTES });
    return new TextDecoder().decode(bytes);
  } catch {
    return "";
  }
}
