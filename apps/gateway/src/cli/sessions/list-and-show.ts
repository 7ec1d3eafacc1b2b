// Runs `clew sessions list` and `clew sessions show`.
import { describeWaiting } from "../../commands/waiting.ts";
import { demoState, isDemo } from "../../demo/demo-place.ts";
import { fatesOf, formatEntry, NEVER } from "../../sessions/format-entry.ts";
import { nameWithLabel } from "../../sessions/labels.ts";
import { shownEntries } from "../../sessions/shown.ts";
import { createSessionStore } from "../../sessions/store.ts";
import { readChildren, withLost } from "../../subagents/child-files.ts";
import { pageOfList } from "../../subagents/page-of-list.ts";
import { inTree, type ListedChild } from "../../subagents/session-tree.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { formatTable } from "../../terminal/table.ts";
import { visible } from "../../text/visible.ts";
import { createWaitingFiles } from "../../waiting/waiting-files.ts";
import { viewOf } from "../../waiting/waiting-message.ts";

export interface ListOptions {
  json?: boolean;
  /** Sessions that no other one started. Absent: all. */
  limit?: number;
  /** Only those with this in their names. Absent: all. */
  find?: string;
}

export async function listSessions(
  { json = false, limit = Number.POSITIVE_INFINITY, find }: ListOptions,
  { environment, output }: Shell,
): Promise<number> {
  const { home } = environment;
  const log = { warn: (text: string) => output.note(text) };
  const stored = await createSessionStore({ home }).list();
  const isMade = (await demoState(home)) === "made";
  const placed = inTree(stored, await withLost(home, await readChildren({ home, log })));
  const page = pageOfList(placed, { limit, find });
  const sessions = page.sessions.map((session) => ({
    ...session,
    demo: isMade && isDemo(session),
  }));
  if (json) output.json({ sessions, next: page.next });
  else if (sessions.length === 0)
    output.line(
      stored.length === 0
        ? `No sessions in ${home} yet; "clew chat" starts one.`
        : `No session has "${visible(find ?? "")}" in its name.`,
    );
  else {
    const rows = sessions.map(({ key, label, updatedAt, bytes, depth, child, demo }) => [
      `${"  ".repeat(depth)}${printable(nameWithLabel({ key, label }))}${child === null ? "" : printable(aboutChild(child))}${demo ? " (demo)" : ""}`,
      updatedAt.slice(0, 19).replace("T", " "),
      formatBytes(bytes),
    ]);
    output.line(formatTable(["session", "last written", "size"], rows));
    const left = stored.length - sessions.length;
    if (page.next !== null) output.note(`(${left} more; --limit shows more, --find some of them)`);
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
  const store = createSessionStore({ home });
  const session = await store.read(name);
  if (session === null) throw await store.notFound(name);
  const branch = shownEntries(session.branch, limit);
  const fates = await fatesOf(session);
  const log = { warn: output.note, error: output.note, info: () => {} };
  const waiting = await createWaitingFiles({ home, log }).read(session.key);
  const views = waiting.map((message) => viewOf(message));
  const unanswered = [...fates].flatMap(([id, fate]) => (fate === NEVER ? [id] : []));
  if (json) output.json({ ...session, branch, unanswered, waiting: views });
  else {
    if (session.label !== undefined) output.line(printable(`${nameWithLabel(session)}\n`));
    for (const entry of branch) output.line(printable(formatEntry(entry, fates)));
    if (views.length > 0) output.line(printable(`Waiting:\n${describeWaiting(views)}`));
  }
  return 0;
}

function formatBytes(bytes: number): string {
  return bytes < 1024
    ? `${bytes} B`
    : bytes < 1024 ** 2
      ? `${(bytes / 1024).toFixed(1)} KiB`
      : `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}
