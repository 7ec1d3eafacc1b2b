// Writes a session of a coding agent that is as large as asked for.
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { random } from "../shared/texts.ts";

/** Which session to write. */
export interface BigSession {
  /** Home of the gateway. */
  home: string;
  /** Its id and the last part of its key. */
  name: string;
  /** About how large its file becomes. */
  bytes: number;
  /** The same seed, the same session. */
  seed: number;
  /** Bytes behind the first entry that its only compaction keeps; null = it was never compacted. */
  keptBytes: number | null;
}

const WORDS =
  "the build tide rock boat keeper lock file parser error value table index cache worker request reply client server token stream branch commit test fails passes because after before every second layer window budget record summary".split(
    " ",
  );

/** The number of messages written. */
export async function writeBigSession({
  home,
  name,
  bytes,
  seed,
  keptBytes,
}: BigSession): Promise<number> {
  const folder = join(home, "agents/main/sessions");
  await mkdir(folder, { recursive: true });
  const out = createWriteStream(join(folder, `${name}.jsonl`));
  let written = 0;
  const put = async (line: object) => {
    const text = `${JSON.stringify(line)}\n`;
    written += text.length;
    if (!out.write(text)) await once(out, "drain");
  };
  const timestamp = new Date(0).toISOString();
  const [version, sessionKey] = [3, `agent:main:${name}`];
  await put({ type: "session", version, id: name, timestamp, cwd: home, sessionKey });

  let parentId: string | null = null;
  let count = 0;
  const place = (entry: object) => {
    const id = (count++).toString(16).padStart(8, "0");
    const placed = { ...entry, id, parentId, timestamp };
    parentId = id;
    return placed;
  };
  let firstKeptEntryId: string | undefined;
  let messages = 0;
  for (const message of messagesOf(seed)) {
    if (written >= bytes && message.role === "user") break;
    const entry = place({ type: "message", message });
    if (keptBytes !== null && written >= bytes - 2 * keptBytes && message.role === "user")
      firstKeptEntryId ??= entry.id;
    await put(entry);
    messages++;
    const isTime = firstKeptEntryId !== undefined && written >= bytes - keptBytes!;
    if (isTime && message.role === "assistant" && keptBytes !== null) {
      const summary = `## Goal\nKeep the build green.\n\n## Progress\n${sentence(random(seed), 120)}`;
      await put(place({ type: "compaction", summary, firstKeptEntryId, tokensBefore: 180_000 }));
      keptBytes = null;
    }
  }
  out.end();
  await once(out, "finish");
  return messages;
}

/** Turns of a request, some calls with their results, and a reply, without end. */
function* messagesOf(seed: number) {
  const next = random(seed);
  const between = (low: number, high: number) => Math.floor(low * (high / low) ** next());
  for (let call = 0; ; ) {
    yield { role: "user" as const, content: sentence(next, between(8, 80)) };
    for (let left = between(1, 8); left > 0; left--, call++) {
      const id = `call_${call}`;
      const path = pathOf(next);
      const toolCall = { type: "toolCall", id, name: "read", arguments: { path } };
      const text = { type: "text", text: sentence(next, between(4, 40)) };
      yield { role: "assistant" as const, content: [text, toolCall], stopReason: "toolUse" };
      const output = listing(next, between(200, 30_000));
      const content = [{ type: "text", text: output }];
      yield { role: "toolResult" as const, toolCallId: id, toolName: "read", content };
    }
    const content = [{ type: "text", text: sentence(next, between(20, 200)) }];
    yield { role: "assistant" as const, content, stopReason: "stop" };
  }
}

const pick = <T>(next: () => number, values: readonly T[]): T =>
  values[Math.floor(next() * values.length)]!;

const pathOf = (next: () => number) =>
  `src/${pick(next, WORDS)}/${pick(next, WORDS)}-${Math.floor(next() * 900)}.ts`;

function sentence(next: () => number, words: number): string {
  return Array.from({ length: words }, () => pick(next, WORDS)).join(" ");
}

/** Lines of code with names that a ledger would want. */
function listing(next: () => number, chars: number): string {
  const lines: string[] = [];
  for (let size = 0; size < chars; ) {
    const value = `${pick(next, WORDS)}${pick(next, WORDS).toUpperCase()}${Math.floor(next() * 999)}`;
    const line = `  const ${value} = await read("${pathOf(next)}", { limit: ${Math.floor(next() * 9999)} });`;
    lines.push(line);
    size += line.length + 1;
  }
  return lines.join("\n");
}
