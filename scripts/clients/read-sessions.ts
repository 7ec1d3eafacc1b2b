// Reads what a gateway stored of a client's conversations.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { activeBranch, parseTranscript } from "../../packages/plugin-sdk/src/transcript.ts";

export interface StoredSession {
  name: string;
  /** Of the branch that the conversation went on with. */
  messages: readonly StoredMessage[];
  /** Requests that the door took for a compaction by the client. */
  compactions: number;
  /** The session that started it, if it is known. */
  parent?: string;
}

export interface StoredMessage {
  role: string;
  content: unknown;
  toolCallId?: string;
}

export async function readSessions(home: string): Promise<StoredSession[]> {
  const folder = join(home, "agents/main/sessions");
  const names = await readdir(folder).catch(() => []);
  const sessions: StoredSession[] = [];
  for (const name of names.filter((each) => each.endsWith(".jsonl"))) {
    const { entries } = parseTranscript(await readFile(join(folder, name), "utf8"));
    const events = await linesOf(join(folder, `${name}.door`));
    const requests = events.flatMap(({ event }) => (event?.type === "request" ? [event] : []));
    const parent = requests.find((request) => request.parent !== undefined)?.parent;
    sessions.push({
      name,
      messages: activeBranch(entries).flatMap((entry) =>
        entry.type === "message" ? [entry.message as StoredMessage] : [],
      ),
      compactions: requests.filter(({ kind }) => kind === "compaction").length,
      ...(parent !== undefined && { parent }),
    });
  }
  return sessions;
}

interface Line {
  event?: { type: string; kind: string; parent?: string };
}

async function linesOf(file: string): Promise<Line[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}
