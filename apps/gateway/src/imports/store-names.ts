// Finds what an OpenClaw store calls the session of a file in it.
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isRecord } from "@clew/plugin-sdk/host";
import { fromJson } from "../own-json.ts";
import { memberOf } from "./strand.ts";

/** Null: there is no store around the file, or it does not name the session. */
export async function nameInStore(file: string, sessionId: string): Promise<string | null> {
  const text = await readFile(join(dirname(file), "sessions.json"), "utf8").catch(() => null);
  const found = Object.entries(storeIn(text)).find(
    ([, entry]) => memberOf(entry, "sessionId") === sessionId,
  );
  return found === undefined ? null : found[0];
}

function storeIn(text: string | null): Record<string, unknown> {
  try {
    const value: unknown = fromJson(text ?? "");
    return isRecord(value) ? value : {};
  } catch {
    return {};
  }
}
