// The blocks of a message's content, whatever a stored session holds there.

/** Any block, known or not. */
export interface AnyBlock {
  /** Also of kinds that are unknown here. */
  type: string;
  /** Whatever else it holds; check before use. */
  [key: string]: unknown;
}

/**
 * `content` as a list of blocks: a string is one text block, null and undefined are none, another
 * value is its JSON as text.
 */
export function blocksOf(content: unknown): AnyBlock[] {
  if (content === undefined || content === null) return [];
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (Array.isArray(content)) return content.flatMap(blocksOf);
  if (isBlock(content)) return [content];
  return [{ type: "text", text: JSON.stringify(content) ?? "" }];
}

function isBlock(value: unknown): value is AnyBlock {
  return (
    typeof value === "object" &&
    value !== null &&
    typeof (value as { type?: unknown }).type === "string"
  );
}

/** The value when it is a string, else the empty string. */
export const stringOf = (value: unknown): string => (typeof value === "string" ? value : "");
