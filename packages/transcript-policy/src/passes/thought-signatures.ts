// Decides which signatures of thoughts a provider can read back.
import { definePass, mapChanged } from "../pass.ts";
import { roleOf, type StoredBlock, storedBlocks, without } from "../stored.ts";

/** Which signatures the provider can read. */
export interface ThoughtSignatureOptions {
  /**
   * True: only canonical base64 or base64url stays. Default false: only the ids of text items go.
   */
  base64Only?: boolean;
  /** True: `thoughtSignature` is held to the same rule. */
  includeCamelCase?: boolean;
}

/**
 * Removes thought signatures that were written by another provider (rule R8). Failed turns are left
 * as they are.
 */
export const sanitizeThoughtSignatures = definePass<ThoughtSignatureOptions>(
  "thought-signatures",
  (messages, options, report) =>
    mapChanged(messages, (message, index) => {
      if (roleOf(message) !== "assistant" || message.stopReason === "error") return message;
      const blocks = storedBlocks(message);
      const clean = mapChanged(blocks, (block) => cleanBlock(block, options));
      if (clean === blocks) return message;
      report("changed", index, "a thought signature another provider wrote");
      return { ...message, content: clean };
    }),
  ({ hasThoughtSignatures }) => hasThoughtSignatures,
);

function cleanBlock(
  block: StoredBlock,
  { base64Only = false, includeCamelCase = false }: ThoughtSignatureOptions,
): StoredBlock {
  if (typeof block !== "object" || block === null) return block;
  const fields =
    base64Only && includeCamelCase
      ? ["thought_signature", "thoughtSignature"]
      : ["thought_signature"];
  return without(
    block,
    fields.filter(
      (field) =>
        field in block &&
        !(base64Only ? isBase64Signature(block[field]) : !isTextItemId(block[field])),
    ),
  );
}

const isTextItemId = (value: unknown): boolean =>
  typeof value === "string" && value.startsWith("msg_");

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/**
 * True for base64 or base64url that would be written the same way again; blanks are ignored,
 * padding may be missing.
 */
export function isBase64Signature(value: unknown): boolean {
  if (typeof value !== "string") return false;
  const text = value.replace(/\s+/g, "");
  const body = text.replace(/={1,2}$/, "");
  if (body === "" || !/^(?:[A-Za-z0-9+/]+|[A-Za-z0-9_-]+)$/.test(body)) return false;
  if (body.length !== text.length && text.length % 4 !== 0) return false;
  const tail = body.length % 4;
  if (tail === 1) return false;
  if (tail === 0) return true;
  // The bits that stand for no byte must be zero: four of them after two characters, two after
  // three.
  const last = ALPHABET.indexOf((body.at(-1) ?? "").replace("-", "+").replace("_", "/"));
  return last % (tail === 2 ? 16 : 4) === 0;
}
