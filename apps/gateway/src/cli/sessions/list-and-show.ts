// Runs `clew sessions list` and `clew sessions show`.
import { describeWaiting } from "../../commands/waiting.ts";
import { demoState, isDemo } from "../../demo/demo-place.ts";
import { type AnsweredPage, createListing } from "../../listing/list-page.ts";
import { fatesOf, formatEntry, NEVER } from "../../sessions/format-entry.ts";
import { nameWithLabel } from "../../sessions/labels.ts";
import { shownEntries } from "../../sessions/shown.ts";
import { readChildren, withLost } from "../../subagents/child-files.ts";
import type { ListedChild } from "../../subagents/session-tree.ts";
import { withShared } from "../../subagents/shared-children.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { formatTable } from "../../terminal/table.ts";
import { counted } from "../../text/number.ts";
import { visible } from "../../text/visible.ts";
import { createWaitingFiles } from "../../waiting/waiting-files.ts";
import { viewOf } from "../../waiting/waiting-message.ts";
import { storedSessions } from "../stored-sessions.ts";

export interface ListOptions {
  json?: boolean;
  /** Sessions that no other one started. Absent: all. */
  limit?: number;
  /** Only those with this in their names, titles or first words. Absent: all. */
  find?: string;
  /** Also what clients sent beside conversations. */
  all?: boolean;
}

export async function listSessions(
  { json = false, limit = Number.POSITIVE_INFINITY, find, all = false }: ListOptions,
  { environment, output }: Shell,
): Promise<number> {
  const { home } = environment;
  const log = { warn: (text: string) => output.note(text) };
  const { sessions: store, children: shared, records } = await storedSessions(environment);
  const rows = await store.list();
  const isMade = (await demoState(home)) === "made";
  const kept = await withLost(home, await readChildren({ home, log }));
  const children = shared === undefined ? kept : await withShared(shared, kept, log);
  const { next, sideRequests, ...page } = await createListing(store).page(
    { rows, children },
    { limit, find, all },
  );
  const sessions = page.sessions.map((session) => ({
    ...session,
    demo: isMade && isDemo(session),
  }));
  if (json)
    output.json({
      // Of what is kept elsewhere there is a copy at most.
      sessions: records === home ? sessions : sessions.map(({ file: _copy, ...told }) => told),
      ...{ next, sideRequests },
    });
  else if (sessions.length === 0)
    output.line(
      rows.length === 0
        ? `No sessions in ${home} yet; "clew chat" starts one.`
        : `No session has "${visible(find ?? "")}" in its name or its first words.`,
    );
  else output.line(tableOf(sessions));
  if (json) return 0;
  const left = rows.length - sessions.length - sideRequests;
  if (next !== null) output.note(`(${left} more; --limit shows more, --find some of them)`);
  if (sideRequests > 0)
    output.note(`(${counted(sideRequests, "side request")} of clients not shown; --all)`);
  return 0;
}

type ListedRow = AnsweredPage["sessions"][number] & { demo: boolean };

/** Characters of what a session is about. */
const MOST_OF_ABOUT = 60;

function tableOf(sessions: readonly ListedRow[]): string {
  const hasClients = sessions.some(({ client }) => client !== undefined);
  const rows = sessions.map((session) => {
    const { client = "", updatedAt, bytes } = session;
    return [
      `${"  ".repeat(session.depth)}${nameIn(session)}`,
      ...(hasClients ? [client] : []),
      updatedAt.slice(0, 19).replace("T", " "),
      formatBytes(bytes),
      aboutIn(session),
    ];
  });
  const client = hasClients ? ["client"] : [];
  return formatTable(["session", ...client, "last written", "size", "about"], rows);
}

function nameIn({ key, label, child, client, sideRequest, demo }: ListedRow): string {
  const kind =
    sideRequest !== undefined
      ? " (side request)"
      : child === null
        ? ""
        : client === undefined
          ? aboutChild(child)
          : " (subagent)";
  return `${printable(nameWithLabel({ key, label }))}${printable(kind)}${demo ? " (demo)" : ""}`;
}

function aboutIn({ title, firstWords = "" }: ListedRow): string {
  const about = visible(title ?? firstWords);
  return about.length > MOST_OF_ABOUT ? `${about.slice(0, MOST_OF_ABOUT - 1)}…` : about;
}

const aboutChild = ({ label, state }: ListedChild): string =>
  label === null ? ` (${state})` : ` "${label}" (${state})`;

export async function showSession(
  name: string,
  { json = false, limit }: { json?: boolean; limit?: number },
  { environment, output }: Shell,
): Promise<number> {
  const { home } = environment;
  const { sessions: store } = await storedSessions(environment);
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
