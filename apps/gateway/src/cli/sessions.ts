// Runs `clew sessions list` and `clew sessions show`.
import type { AgentMessage, UserMessage } from "@clew/plugin-sdk/core";
import { otherSessionOf, speakerOf, textOf } from "@clew/plugin-sdk/transcript";
import { demoState, isDemo } from "../demo/demo-place.ts";
import { isInForce, readOwner } from "../locks/lock.ts";
import { callsWithoutResult } from "../sessions/calls-without-result.ts";
import { shortName } from "../sessions/keys.ts";
import { sessionNotFound } from "../sessions/name-errors.ts";
import { type ShownEntry, shownEntries } from "../sessions/shown.ts";
import { createSessionStore, type ReadSession } from "../sessions/store.ts";
import { readChildren, withLost } from "../subagents/child-files.ts";
import { inTree, type ListedChild } from "../subagents/session-tree.ts";
import { printable } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { formatTable } from "../terminal/table.ts";
import { visible, visibleJson } from "../text/visible.ts";

export async function listSessions(
  { json = false }: { json?: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const { home } = environment;
  const log = { warn: (text: string) => output.note(text) };
  const stored = await createSessionStore({ home }).list();
  const isMade = (await demoState(home)) === "made";
  const placed = inTree(stored, await withLost(home, await readChildren({ home, log })));
  const sessions = placed.map((session) => ({ ...session, demo: isMade && isDemo(session) }));
  if (json) output.json({ sessions });
  else if (sessions.length === 0)
    output.line(`No sessions in ${home} yet; "clew chat" starts one.`);
  else {
    const rows = sessions.map(({ key, updatedAt, bytes, depth, child, demo }) => [
      `${"  ".repeat(depth)}${printable(shortName(key))}${child === null ? "" : printable(aboutChild(child))}${demo ? " (demo)" : ""}`,
      updatedAt.slice(0, 19).replace("T", " "),
      formatBytes(bytes),
    ]);
    output.line(formatTable(["session", "last written", "size"], rows));
  }
  return 0;
}

const aboutChild = ({ label, state }: ListedChild): string =>
  label === null ? ` (${state})` : ` "${label}" (${state})`;

export async function showSession(
  name: string,
  { json = false, limit }: { json?: boolean; limit?: number },
  { environment, output }: Shell,
): Promise<number> {
  const { home } = environment;
  const session = await createSessionStore({ home }).read(name);
  if (session === null) throw sessionNotFound(name);
  const branch = shownEntries(session.branch, limit);
  const fates = await fatesOf(session);
  const unanswered = [...fates].flatMap(([id, fate]) => (fate === NEVER ? [id] : []));
  if (json) output.json({ ...session, branch, unanswered });
  else for (const entry of branch) output.line(printable(formatEntry(entry, fates)));
  return 0;
}

const NEVER = "never answered: its turn ended before, and the model is told so";
const NOT_YET = "no result yet";

/** What became of calls without a result, by entry and call. */
async function fatesOf({ file, branch }: ReadSession): Promise<ReadonlyMap<string, string>> {
  const owner = await readOwner(`${file}.lock`);
  const isOpen = owner !== null && (await isInForce(owner));
  return new Map(
    [...callsWithoutResult(branch)].flatMap(([entryId, { callIds, isOver }]) =>
      callIds.map((id) => [`${entryId} ${id}`, isOver || !isOpen ? NEVER : NOT_YET] as const),
    ),
  );
}

function formatEntry(entry: ShownEntry, fates: ReadonlyMap<string, string>): string {
  const head = `[${entry.timestamp.slice(0, 19).replace("T", " ")}] ${entry.id}`;
  if (entry.type !== "message") return `${head} (${entry.type})`;
  const { message } = entry;
  const calls =
    message.role === "assistant" && Array.isArray(message.content)
      ? message.content.flatMap((block) =>
          block.type === "toolCall"
            ? [
                `→ ${visible(block.name)} ${visibleJson(block.arguments)}${fateText(fates.get(`${entry.id} ${block.id}`))}`,
              ]
            : [],
        )
      : [];
  const who = whoSaid(message);
  return [
    `${head} ${who}:`,
    ...[textOf(message), ...calls, failureOf(message)]
      .filter((text) => text !== "")
      .map((text) => indent(text)),
    "",
  ].join("\n");
}

const fateText = (fate: string | undefined): string => (fate === undefined ? "" : `\n  (${fate})`);

function whoSaid(message: AgentMessage): string {
  const other = otherSessionOf(message);
  if (other !== undefined) return other.key === null ? "other sessions" : speakerOf(message);
  if (message.role === "user" && isOfJob(message)) return "job";
  return message.role === "toolResult" ? `${message.role} ${message.toolName}` : message.role;
}

/** A job said it, and no person. */
const isOfJob = ({ __openclaw: envelope }: UserMessage): boolean =>
  envelope?.kind === "cron" || envelope?.kind === "heartbeat";

/** Why a reply ended before its time; "" = it did not. */
const failureOf = (message: AgentMessage): string =>
  message.role === "assistant" && message.errorMessage
    ? `(${message.stopReason === "aborted" ? "stopped" : "failed"}: ${message.errorMessage})`
    : "";

const indent = (text: string) => `  ${text.replaceAll("\n", "\n  ")}`;

function formatBytes(bytes: number): string {
  return bytes < 1024
    ? `${bytes} B`
    : bytes < 1024 ** 2
      ? `${(bytes / 1024).toFixed(1)} KiB`
      : `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}
