// The blocks of a message's content, whatever a stored session holds in their place.

export interface LooseBlock {
  type: string;
  [key: string]: unknown;
}

/** The blocks of a list; what is no block, and content that is no list, is left out. */
export function blocksIn(content: unknown): LooseBlock[] {
  if (!Array.isArray(content)) return [];
  return content.filter(
    (block): block is LooseBlock =>
      typeof block === "object" && block !== null && typeof block.type === "string",
  );
}

/** The values of a tool call's arguments by name; none when they are no object. */
export function argumentsOf(block: LooseBlock): [string, unknown][] {
  const { arguments: args } = block;
  return typeof args === "object" && args !== null ? Object.entries(args) : [];
}
