// Reads a body that is an object of JSON, or nothing.
import { isRecord } from "@clew/plugin-sdk/host";

/** Nothing is an object without members. Undefined: it is neither. */
export function readObject(text: string): Record<string, unknown> | undefined {
  if (text.trim() === "") return {};
  try {
    const body: unknown = JSON.parse(text);
    return isRecord(body) ? body : undefined;
  } catch {
    return undefined;
  }
}
