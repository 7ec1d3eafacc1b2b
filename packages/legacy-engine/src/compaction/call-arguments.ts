// What a tool call was given, whatever a stored session holds there.
import type { AnyBlock } from "@clew/plugin-sdk/transcript";

/**
 * The values of a tool call's arguments by name; none when they are no object. One after another:
 * some calls have many thousand.
 */
export function* argumentsOf({ arguments: args }: AnyBlock): Generator<[string, unknown]> {
  if (typeof args !== "object" || args === null) return;
  for (const key of Object.keys(args)) yield [key, args[key as keyof typeof args]];
}
