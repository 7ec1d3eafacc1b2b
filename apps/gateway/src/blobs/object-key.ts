// Decides under which key the bytes of an agent are kept.
import type { BlobName } from "@clew/store-postgres";

/**
 * Pure. Below a prefix, which ends with a slash: first letters of the hash apart, so that no folder
 * has too many. Keys of an agent are in the order of their hashes.
 */
export const objectKey = (prefix: string, { agentId, hash }: BlobName): string =>
  `${agentPrefix(prefix, agentId)}${hash.slice(0, 2)}/${hash}`;

/** Pure. What all keys of an agent begin with. */
export const agentPrefix = (prefix: string, agentId: string): string =>
  `${prefix}${segment(agentId)}/`;

/** Letters that folders, addresses and signatures take as they are. */
const segment = (text: string): string =>
  text.replace(/[^A-Za-z0-9_-]/g, (letter) => {
    const bytes = Buffer.from(letter, "utf8");
    return [...bytes].map((byte) => `.${byte.toString(16).padStart(2, "0")}`).join("");
  });
