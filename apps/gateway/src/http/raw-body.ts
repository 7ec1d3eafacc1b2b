// Reads the body of a request as Node has it, up to a limit, and unpacks it.
import type { IncomingMessage } from "node:http";
import { brotliDecompress, gunzip, type InputType, inflate, zstdDecompress } from "node:zlib";

export type RawBody =
  | { kind: "body"; bytes: Uint8Array }
  /** "packed": in a way that nobody here undoes, or that is not undone. */
  | { kind: "too-large" | "packed" | "gone" };

type Unpack = (
  packed: InputType,
  options: { maxOutputLength: number },
  done: (error: Error | null, bytes: Buffer) => void,
) => void;

const UNPACK: Readonly<Record<string, Unpack>> = {
  gzip: gunzip,
  "x-gzip": gunzip,
  deflate: inflate,
  br: brotliDecompress,
  zstd: zstdDecompress,
};

export async function readRawBody(incoming: IncomingMessage, maxBytes: number): Promise<RawBody> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  if (Number(incoming.headers["content-length"] ?? 0) > maxBytes) return { kind: "too-large" };
  try {
    // Whoever sends too much is still to be told so.
    for await (const piece of incoming.iterator({ destroyOnReturn: false })) {
      size += piece.length;
      if (size > maxBytes) return { kind: "too-large" };
      pieces.push(piece);
    }
  } catch {
    return { kind: "gone" };
  }
  const bytes = Buffer.concat(pieces);
  const packing = incoming.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  return packing === "identity" || packing === ""
    ? { kind: "body", bytes }
    : unpacked(bytes, UNPACK[packing], maxBytes);
}

function unpacked(
  bytes: Uint8Array,
  unpack: Unpack | undefined,
  maxOutputLength: number,
): Promise<RawBody> {
  return new Promise((resolve) => {
    if (unpack === undefined) return resolve({ kind: "packed" });
    unpack(bytes, { maxOutputLength }, (error, body) => {
      if (error === null) return resolve({ kind: "body", bytes: body });
      const { code } = error as NodeJS.ErrnoException;
      resolve({ kind: code === "ERR_BUFFER_TOO_LARGE" ? "too-large" : "packed" });
    });
  });
}
