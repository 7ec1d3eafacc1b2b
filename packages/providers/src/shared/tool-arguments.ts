// Reads the text of a tool call's arguments.
import { isRecord } from "@clew/plugin-sdk/host";

export type ToolArguments = { ok: true; value: Record<string, unknown> } | { ok: false };

/**
 * The arguments object. Nothing at all is `{}` (a tool without parameters); an object inside a JSON
 * string is unwrapped; raw control characters inside strings, which small models write, are taken
 * as they are. Anything else is refused: a tool must not run with guessed arguments.
 */
export function parseToolArguments(text: string): ToolArguments {
  if (text.trim() === "") return { ok: true, value: {} };
  const first = parse(text) ?? parse(escapeControlCharacters(text));
  const value = typeof first?.value === "string" ? parse(first.value)?.value : first?.value;
  if (value === null) return { ok: true, value: {} };
  return isRecord(value) ? { ok: true, value } : { ok: false };
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Only inside strings: between tokens a line break is plain white space. */
function escapeControlCharacters(text: string): string {
  return text.replace(/"(?:[^"\\]|\\[\s\S])*"/g, (string) =>
    string.replace(
      /[\u0000-\u001f]/g,
      (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
    ),
  );
}
