// Brings what other sessions of an agent said into a database, wherever they were said.
import type { EngineRows, OtherTranscript, SessionRows } from "@clew/plugin-sdk/core";
import { LOSSLESS_ENGINE_ID } from "../id.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import type { Store } from "../store/store.ts";
import { bringOther } from "./sharing.ts";

/** Where sessions of an agent are shared. */
export interface SharedPlaces {
  readonly rows: EngineRows;
  /** False: the session is none of the agent's database. */
  keeps(session: OwnedSession): boolean;
}

/** What of other sessions a database lacks. */
export interface Lacking {
  /** Sessions that could not be read, or that there was no time for. */
  readonly unread: number;
  /** Sessions of which nothing is shared. */
  readonly unshared: number;
  /** Sessions whose numbers others have here. */
  readonly apart: number;
  /** Why something could not be read. Undefined: all that there was time for could be. */
  readonly failure?: string | undefined;
}

/** What is known of them since a database was opened. */
interface Known {
  readonly file: string;
  /** When the newest of them changed, ms. */
  newest: number;
  /** By session id, newest first: those that are to be brought. */
  readonly todo: Map<string, OtherTranscript>;
  readonly unshared: Set<string>;
  readonly apart: Set<string>;
}

const knownOf = new WeakMap<Store, Map<string, Known>>();

/** What is shared may come behind what was said, ms. */
const OVERLAP_MS = 60_000;
const AT_A_TIME = 4;

/**
 * As far as there is time; the next call goes on. Undefined: the host says nothing of other
 * sessions, or there are none but those that the database has.
 */
export async function bringOthers(
  store: Store,
  session: OwnedSession,
  {
    places: { rows, keeps },
    boundMs,
    signal,
  }: { places: SharedPlaces; boundMs: number; signal?: AbortSignal | undefined },
): Promise<Lacking | undefined> {
  const port = rows.of(session, LOSSLESS_ENGINE_ID);
  if (port?.others === undefined) return undefined;
  const known = knownIn(store, session);
  const end = performance.now() + boundMs;
  const { todo, unshared, apart } = known;
  const failures = await failuresOf([noteChanged(known, port, keeps)]);
  let isGoingOn = failures.length === 0;
  while (isGoingOn && todo.size > 0 && performance.now() < end) {
    signal?.throwIfAborted();
    const some = [...todo.values()].slice(0, AT_A_TIME);
    const tries = some.map((each) => bringOne(store, session, { each, known, rows, port }));
    const failed = await failuresOf(tries);
    failures.push(...failed);
    isGoingOn = failed.length < some.length;
  }
  const [failure] = failures;
  return { unread: todo.size, unshared: unshared.size, apart: apart.size, failure };
}

/** For people. */
async function failuresOf(tries: readonly Promise<void>[]): Promise<string[]> {
  return (await Promise.allSettled(tries)).flatMap((each) =>
    each.status === "rejected" ? [(each.reason as Error).message] : [],
  );
}

function knownIn(store: Store, { owner = "" }: OwnedSession): Known {
  const ofOwners = knownOf.get(store) ?? new Map<string, Known>();
  knownOf.set(store, ofOwners);
  const [file, before] = [store.fileInUse(), ofOwners.get(owner)];
  if (before?.file === file) return before;
  const known: Known = {
    ...{ file, newest: 0, todo: new Map(), unshared: new Set(), apart: new Set() },
  };
  ofOwners.set(owner, known);
  return known;
}

async function noteChanged(
  known: Known,
  port: SessionRows,
  keeps: SharedPlaces["keeps"],
): Promise<void> {
  const changed = (await port.others?.(known.newest - OVERLAP_MS)) ?? [];
  for (const each of changed) {
    known.newest = Math.max(known.newest, each.changedAt);
    if (keeps(each)) known.todo.set(each.sessionId, each);
  }
}

async function bringOne(
  store: Store,
  session: OwnedSession,
  {
    each,
    known: { todo, unshared, apart },
    rows,
    port,
  }: { each: OtherTranscript; known: Known; rows: EngineRows; port: SessionRows },
): Promise<void> {
  const { sessionId, sessionKey } = each;
  const other = { sessionId, sessionKey, owner: session.owner };
  const brought = await bringOther(store, other, { rows, port }).catch((error: unknown) => {
    // One that cannot be read keeps no other one from it.
    if (todo.delete(sessionId)) todo.set(sessionId, each);
    throw error;
  });
  todo.delete(sessionId);
  unshared.delete(sessionId);
  apart.delete(sessionId);
  if (brought?.kind === "kept" && brought.own === undefined) unshared.add(sessionId);
  if (brought?.kind === "apart" || brought?.kind === "unusable") apart.add(sessionId);
}

/** Pure. What an answer over all sessions has to say of them. Undefined: nothing. */
export function describeLacking(lacking: Lacking | undefined): string | undefined {
  if (lacking === undefined) return undefined;
  const { unread, unshared, apart, failure } = lacking;
  const told = [
    failure !== undefined &&
      `Not looked at: ${unread === 0 ? "what other sessions said of late" : sessions(unread)}, as it could not be read. ${failure}`,
    failure === undefined &&
      unread > 0 &&
      `Not looked at: ${sessions(unread)}, newer ones first, as reading what they said takes longer than this call may; the next one goes on.`,
    unshared > 0 && `Not looked at: ${sessions(unshared)} of which nothing is stored here.`,
    apart > 0 &&
      `Not looked at, or not to its end: ${sessions(apart)} that cannot be read on this machine.`,
  ];
  const said = told.filter((each) => each !== false);
  return said.length === 0 ? undefined : said.join("\n");
}

const sessions = (count: number) => (count === 1 ? "1 other session" : `${count} other sessions`);
