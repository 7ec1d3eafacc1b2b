// Runs `clew sessions delete`, which takes sessions away with the files that are their own.
import { existsSync } from "node:fs";
import { costFiles, noteWithoutGateway } from "../../costs/ledger.ts";
import { shortName } from "../../sessions/keys.ts";
import type { SessionSummary } from "../../sessions/list-sessions.ts";
import { requireSessionName } from "../../sessions/name-errors.ts";
import { doorJournalFile } from "../../sessions/paths.ts";
import type { SessionStore } from "../../sessions/store.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { counted } from "../../text/number.ts";
import { databasesOf } from "../lossless/databases.ts";
import { answerOf, runningGateway } from "../running-gateway.ts";
import { sessionsToChange, storedSessions } from "../stored-sessions.ts";

/** A gateway lets background work end before the session closes. */
const REMOVE_MS = 30_000;

/**
 * Nothing is deleted unless all of them are there. Throws SESSION_NOT_FOUND, SESSION_BUSY while a
 * reply is written, and SESSION_LOCKED while another process than the gateway has one.
 */
export async function deleteSessions(
  names: readonly string[],
  { yes = false, json = false }: { yes?: boolean; json?: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const { sessions: store } = await storedSessions(environment);
  const keys: string[] = [];
  const atDoor = new Set<string>();
  for (const name of names) {
    const { key } = requireSessionName(name);
    const found = await store.find(key);
    if (found === null) throw await store.notFound(name);
    keys.push(key);
    if (await cameByDoor(store, found)) atDoor.add(shortName(key));
  }
  const sessions = [...new Set(keys)];
  if (yes) await removeAll(sessions, environment);
  if (json) output.json({ sessions, deleted: yes });
  else {
    const isKept = yes && (await hasLosslessStore(environment));
    const rest = isKept ? (store.beginnings === undefined ? KEPT : KEPT_IN_HOMES) : "";
    output.line(printable(describe(sessions.map(shortName), yes, rest)));
    for (const line of describeClients([...atDoor])) output.line(printable(line));
  }
  return EXIT.done;
}

/** The running gateway may have them open, so it is the one that removes them. */
async function removeAll(
  keys: readonly string[],
  environment: Shell["environment"],
): Promise<void> {
  const gateway = await runningGateway(environment);
  if (gateway !== undefined) {
    for (const key of keys) {
      const path = `/api/sessions/${encodeURIComponent(key)}`;
      await answerOf(gateway, path, { method: "DELETE", timeoutMs: REMOVE_MS });
    }
    return;
  }
  const { sessions, shareCosts, close } = await sessionsToChange(environment);
  const { home } = environment;
  const mayHaveSpent = shareCosts !== undefined || (await costFiles(home)).length > 0;
  try {
    for (const key of keys) {
      await sessions.remove(key);
      if (mayHaveSpent) noteWithoutGateway(home, { kind: "deleted", session: key, at: new Date() });
    }
    await shareCosts?.();
  } finally {
    await close();
  }
}

/** What it took stays in it, also while another engine answers. */
async function hasLosslessStore(environment: Shell["environment"]): Promise<boolean> {
  const databases = await databasesOf(environment, undefined);
  return databases.some(({ file }) => existsSync(file));
}

/** Its client sends all of it with each request. */
const cameByDoor = async (store: SessionStore, session: SessionSummary): Promise<boolean> =>
  store.beginnings === undefined
    ? existsSync(doorJournalFile(session.file))
    : ((await store.beginnings([session])).get(session.file)?.door.length ?? 0) > 0;

function describeClients(atDoor: readonly string[]): string[] {
  if (atDoor.length === 0) return [];
  const [which, has, brings] =
    atDoor.length === 1
      ? [atDoor[0]!, "its client has", "its next request begins a session"]
      : [atDoor.join(", "), "their clients have", "the next request of each begins a session"];
  return [
    `${which} came by the door, and ${has} the words still: ${brings} anew, with all that it sends. End the conversation there, too.`,
  ];
}

const KEPT =
  ' What the lossless engine keeps of its own stays: "clew lossless forget --session NAME" takes it out.';
/** A command of one home cannot reach the others. */
const KEPT_IN_HOMES =
  ' What the lossless engine keeps of its own stays in each home that had it open: "clew lossless forget --session NAME", run there while no gateway of the database runs, takes it out.';

function describe(sessions: readonly string[], isDone: boolean, rest: string): string {
  const which = `${counted(sessions.length, "session")} (${sessions.join(", ")})`;
  const [them, their] = sessions.length === 1 ? ["it", "its"] : ["them", "their"];
  const what = `with what waits in ${them}, what engines took of ${them}, and the reports of ${their} calls`;
  return isDone
    ? `Deleted ${which}, ${what}.${rest}`
    : `Would delete ${which}, ${what}. Add --yes to do it; it cannot be undone. "clew sessions export NAME --out FILE" writes one down before.`;
}
