// What a tool call was given, whatever a stored session holds there.
import type { AnyBlock } from "@clew/plugin-sdk/transcript";

/** The values of a tool call's arguments by name; none when they are no object. */
export function argumentsOf({ arguments: args }: AnyBlock): [string, unknown][] {
  return typeof args === "object" && args !== null ? Object.entries(args) : [];
}
