// Runs `clew sessions search`, which finds what was said in all sessions of a home.
import { setImmediate } from "node:timers/promises";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { formatEntry } from "../../sessions/format-entry.ts";
import { nameWithLabel } from "../../sessions/labels.ts";
import type { SessionSummary } from "../../sessions/list-sessions.ts";
import { requireSessionName } from "../../sessions/name-errors.ts";
import { readAllEntries } from "../../sessions/read-transcript.ts";
import { type ShownEntry, shownEntries } from "../../sessions/shown.ts";
import { createSessionStore, type SessionStore } from "../../sessions/store.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { counted } from "../../text/number.ts";
import { visible } from "../../text/visible.ts";
import { interruptible } from "../interruptible.ts";

export interface SearchOptions {
  session?: string;
  limit: number;
  /** Also in what was taken back, and so stands on no branch that goes on. */
  all?: boolean;
  json?: boolean;
}

interface Found {
  session: string;
  /** What people call the session. */
  label?: string;
  entry: string;
  timestamp: string;
  /** One line around the place. */
  text: string;
  /** Absent: it is in the conversation as it is now. */
  isTakenBack?: true;
}

/** Newest session first. Exit code 1 when nothing is found. Throws REQUEST_INVALID. */
export async function searchSessions(
  wanted: string,
  { session, limit, all = false, json = false }: SearchOptions,
  { environment, output }: Shell,
): Promise<number> {
  if (wanted.trim() === "")
    throw new ContextEngineError("REQUEST_INVALID", "Nothing is looked for; say which words.");
  const store = createSessionStore({ home: environment.home });
  const sessions = await sessionsOf(store, session);
  const found: Found[] = [];
  let unread = 0;
  await interruptible(output, async ({ signal, says }) => {
    for (const [index, { key, label }] of sessions.entries()) {
      signal.throwIfAborted();
      says(`${counted(index, "session")} of ${sessions.length} searched, ${found.length} found`);
      // What cannot be read is the doctor's to tell of; the others are searched all the same.
      const read = await store.read(key).catch(() => void unread++);
      const branch = read?.branch ?? [];
      const current = new Set(branch.map(({ id }) => id));
      const entries = all && read ? await readAllEntries(read.file) : branch;
      for (const entry of shownEntries(entries).reverse()) {
        if (found.length >= limit) return;
        const text = placeIn(formatEntry(entry), wanted);
        if (text === undefined) continue;
        const isTakenBack = !current.has(entry.id);
        found.push({
          ...asFound({ key, label }, entry, text),
          ...(isTakenBack && { isTakenBack }),
        });
      }
      await setImmediate();
    }
  });
  if (unread > 0)
    output.note(`${counted(unread, "session")} could not be read; "clew doctor" says why.`);
  if (json) output.json({ found });
  else if (found.length === 0)
    output.line(
      printable(
        `Nobody said "${wanted}"${all ? "" : "; with --all what was taken back counts, too"}.`,
      ),
    );
  else for (const each of found) output.line(lineOf(each));
  return found.length === 0 ? EXIT.failed : EXIT.done;
}

async function sessionsOf(
  store: SessionStore,
  session: string | undefined,
): Promise<readonly SessionSummary[]> {
  if (session === undefined) return store.list();
  const found = await store.find(requireSessionName(session).key);
  if (found === null) throw await store.notFound(session);
  return [found];
}

const asFound = (
  { key, label }: Pick<SessionSummary, "key"> & { label: string | undefined },
  { id, timestamp }: ShownEntry,
  text: string,
): Found => ({
  ...{ session: key, entry: id, timestamp, text },
  ...(label !== undefined && { label }),
});

const AROUND = 60;

/** Pure. Without its heading, in any case; undefined = it does not stand there. */
function placeIn(formatted: string, wanted: string): string | undefined {
  const text = formatted.slice(formatted.indexOf("\n") + 1).replace(/\s+/g, " ");
  const at = text.toLowerCase().indexOf(wanted.toLowerCase().replace(/\s+/g, " "));
  if (at < 0 || !formatted.includes("\n")) return undefined;
  const from = Math.max(0, at - AROUND);
  const to = at + wanted.length + AROUND;
  return `${from > 0 ? "…" : ""}${text.slice(from, to).trim()}${to < text.length ? "…" : ""}`;
}

const lineOf = ({ session, label, entry, timestamp, text, isTakenBack }: Found): string =>
  printable(
    `${nameWithLabel({ key: session, label })}  ${timestamp.slice(0, 16).replace("T", " ")}  ${entry}  ${isTakenBack ? "(taken back) " : ""}${visible(text)}`,
  );
