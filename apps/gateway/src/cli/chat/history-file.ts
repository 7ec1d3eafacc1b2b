// Keeps what a person wrote in the chats of a home, for the next ones.
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { appendOwn, writeOwn } from "../../home/own-writes.ts";
import { fromJson, toJson } from "../../own-json.ts";
import { MOST_REMEMBERED } from "./history.ts";

/** In the home; a line of JSON for each text. */
export const HISTORY_FILE = "chat-history.jsonl";

export interface HistoryFile {
  /** Oldest first; none when they cannot be read. */
  read(): Promise<string[]>;
  /** Best effort: nobody is kept from talking by a full disk. */
  add(text: string): Promise<void>;
}

export function historyFile(home: string): HistoryFile {
  const file = join(home, HISTORY_FILE);
  let lines = 0;
  let writing = Promise.resolve();
  const read = async () => {
    const text = await readFile(file, "utf8").catch(() => "");
    const entries = text.split("\n").flatMap(textIn);
    lines = entries.length;
    return entries.slice(-MOST_REMEMBERED);
  };
  const write = async (text: string) => {
    const begin = (await endsWithin(file)) ? "\n" : "";
    await appendOwn(file, `${begin}${toJson(text)}\n`);
    lines++;
    if (lines < 2 * MOST_REMEMBERED) return;
    const entries = await read();
    await writeOwn(file, entries.map((each) => `${toJson(each)}\n`).join(""));
    lines = entries.length;
  };
  return {
    read,
    add(text) {
      writing = writing.then(() => write(text)).catch(() => {});
      return writing;
    },
  };
}

/** Whether its last line was cut off. */
async function endsWithin(file: string): Promise<boolean> {
  const handle = await open(file, "r").catch(() => null);
  if (handle === null) return false;
  try {
    const { size } = await handle.stat();
    if (size === 0) return false;
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    return buffer.toString() !== "\n";
  } finally {
    await handle.close();
  }
}

/** A line that was cut off says nothing. */
function textIn(line: string): string[] {
  try {
    const text = line === "" ? undefined : fromJson(line);
    return typeof text === "string" ? [text] : [];
  } catch {
    return [];
  }
}
