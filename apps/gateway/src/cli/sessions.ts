// `clew sessions`: lists sessions, shows what one holds.
import { type TranscriptEntry, textOf } from "@clew/plugin-sdk/transcript";
import { readEnvironment } from "../config/environment.ts";
import { shortName } from "../sessions/keys.ts";
import { sessionNotFound } from "../sessions/name-errors.ts";
import { shownEntries } from "../sessions/shown.ts";
import { createSessionStore } from "../sessions/store.ts";
import { printable, terminal } from "../terminal/output.ts";
import { formatTable } from "../terminal/table.ts";

export async function listSessions({ json = false }: { json?: boolean }): Promise<number> {
  const { home } = readEnvironment();
  const sessions = await createSessionStore({ home }).list();
  if (json) terminal.json({ sessions });
  else if (sessions.length === 0)
    terminal.line(`No sessions in ${home} yet; "clew chat" begins one.`);
  else {
    const rows = sessions.map(({ key, updatedAt, bytes }) => [
      printable(shortName(key)),
      updatedAt.slice(0, 19).replace("T", " "),
      formatBytes(bytes),
    ]);
    terminal.line(formatTable(["session", "last written", "size"], rows));
  }
  return 0;
}

export async function showSession(
  name: string,
  { json = false, limit }: { json?: boolean; limit?: number },
): Promise<number> {
  const { home } = readEnvironment();
  const session = await createSessionStore({ home }).read(name);
  if (session === null) throw sessionNotFound(name);
  const branch = shownEntries(session.branch, limit);
  if (json) terminal.json({ ...session, branch });
  else for (const entry of branch) terminal.line(printable(formatEntry(entry)));
  return 0;
}

function formatEntry(entry: TranscriptEntry): string {
  const head = `[${entry.timestamp.slice(0, 19).replace("T", " ")}] ${entry.id}`;
  if (entry.type !== "message") return `${head} (${entry.type})`;
  const { message } = entry;
  const calls =
    message.role === "assistant" && Array.isArray(message.content)
      ? message.content.flatMap((block) =>
          block.type === "toolCall" ? [`→ ${block.name} ${JSON.stringify(block.arguments)}`] : [],
        )
      : [];
  const who = message.role === "toolResult" ? `${message.role} ${message.toolName}` : message.role;
  return [
    `${head} ${who}:`,
    ...[textOf(message), ...calls].filter((text) => text !== "").map((text) => indent(text)),
    "",
  ].join("\n");
}

const indent = (text: string) => `  ${text.replaceAll("\n", "\n  ")}`;

function formatBytes(bytes: number): string {
  return bytes < 1024
    ? `${bytes} B`
    : bytes < 1024 ** 2
      ? `${(bytes / 1024).toFixed(1)} KiB`
      : `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}
