// Keeps what stands for a session's messages the same at every machine that has the session.
import type { EngineRow, EngineRows, SessionRows } from "@clew/plugin-sdk/core";
import { LOSSLESS_ENGINE_ID } from "../id.ts";
import { asFarAsPossible, patiently } from "../patiently.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { placeOf } from "../store/conversations.ts";
import { numberedBy } from "../store/room.ts";
import {
  familyRow,
  goneRow,
  type Mark,
  rowsBehind,
  turnRow,
  turnRows,
} from "../store/shared-rows.ts";
import type { Store } from "../store/store.ts";
import { type BroughtUp, bringBeside, bringUp, type Unusable } from "./bring-up.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { notAmong, ownRows } from "./own-rows.ts";

/** What is shared of the sessions of one engine. */
export interface Sharing {
  /** Before work in a session: the store holds what is shared of it. Throws STORAGE_FAILED. */
  ready(store: Store, session: OwnedSession): Promise<void>;
  /**
   * For files of other sessions that are read beside an open one: what is shared of each comes
   * into the store first, so that its messages get no second numbers, and nobody else takes it over
   * meanwhile. What it gives throws STORAGE_FAILED, and what `read` throws.
   */
  beside(
    store: Store,
    open: OwnedSession,
  ): <Answer>(other: OwnedSession, read: () => Promise<Answer>) => Promise<Answer>;
  /**
   * After it: what is new is shared, durably where the machine has the session. What cannot be
   * shared now is with the next that is.
   */
  share(store: Store, session: OwnedSession, what?: SharedWork): Promise<void>;
}

/** What is shared after some work. */
export interface SharedWork {
  /** Key of the turn that was stored. Absent: none has one. */
  readonly turn?: string | undefined;
  /** True: where nothing but messages is new, it waits for what comes next. Absent: false. */
  readonly mayWait?: boolean;
}

/** Of one opening of a session. */
interface Opening {
  readonly store: Store;
  /** The database that is up to date. */
  readonly file: string;
  /** Once the store holds what is shared; undefined: nobody asked, or it failed. */
  ready: Promise<void> | undefined;
  /** Undefined: nothing of it is stored. */
  mark: Mark | undefined;
  /** What is not shared yet. */
  readonly waiting: EngineRow[];
  /** False: another machine has it, or its numbers are taken here. */
  isShared: boolean;
  sharing: Promise<void>;
}

/** Sessions that stay on one machine. */
const ALONE: Sharing = {
  ready: async () => {},
  beside: () => (_other, read) => read(),
  share: async () => {},
};

/** Who is told of sessions that are not as at other machines. */
interface Told {
  /** Of one that cannot be taken over, as others of the database have its numbers. */
  readonly onApart?: ((session: OwnedSession) => void) | undefined;
  /** Of one that is made anew, as what is shared of it cannot be used. */
  readonly onUnusable?: ((session: OwnedSession, what: Unusable) => void) | undefined;
}

/** `keeps` false: the session is none of the agent's database. */
export function createSharing(
  rows: EngineRows | undefined,
  { keeps, ...told }: Told & { keeps: (session: OwnedSession) => boolean },
): Sharing {
  if (rows === undefined) return ALONE;
  const openingOf = (store: Store, session: OwnedSession) => {
    const shared = keeps(session) ? rows.of(session, LOSSLESS_ENGINE_ID) : undefined;
    if (shared === undefined) return undefined;
    const file = store.fileInUse();
    const known = openings.get(shared);
    const isSame = known?.store === store && known.file === file;
    const opening = isSame ? known : newOpening(store, file);
    openings.set(shared, opening);
    return { shared, opening };
  };
  return {
    async ready(store, session) {
      numberedBy(store, rows.reserve);
      const found = openingOf(store, session);
      if (found === undefined) return;
      const { opening } = found;
      opening.ready ??= oneAtATime(store, session, () =>
        catchUpWith(store, session, { ...found, told }),
      ).catch((error: unknown) => {
        opening.ready = undefined;
        throw error;
      });
      await opening.ready;
    },
    beside(store, open) {
      const shared = openingOf(store, open)?.shared;
      return async (other, read) => {
        const isReady = () => readyIn(rows, other);
        await isReady();
        return oneAtATime(store, other, async () => {
          if (shared !== undefined && !isReady())
            await bringBeside(store, other, shared.beside(other.sessionId));
          return read();
        });
      };
    },
    share: (store, session, { turn, mayWait = false } = {}) =>
      asFarAsPossible(async () => {
        const found = openingOf(store, session);
        if (found?.opening.ready === undefined) return;
        const { shared, opening } = found;
        await opening.ready;
        if (!opening.isShared) return;
        await patiently(() => note(store, session, opening));
        if (turn !== undefined) opening.waiting.push(turnRow(turn));
        if (mayWait && opening.waiting.every(({ kind }) => WAITING.has(kind))) return;
        opening.sharing = opening.sharing.catch(() => {}).then(() => send(shared, opening));
        await opening.sharing;
      }),
  };
}

/** One that is open here knows better what is in the store than what is shared. */
function readyIn(rows: EngineRows, session: OwnedSession): Promise<void> | undefined {
  const own = rows.of(session, LOSSLESS_ENGINE_ID);
  return own && openings.get(own)?.ready;
}

/**
 * Brings what is shared of a session into the store that `port`'s session uses. Undefined: the
 * session is open here, and the store is ahead of it.
 */
export async function bringOther(
  store: Store,
  other: OwnedSession,
  { rows, port }: { rows: EngineRows; port: Pick<SessionRows, "beside"> },
): Promise<BroughtUp | undefined> {
  await readyIn(rows, other);
  return oneAtATime(store, other, async () =>
    readyIn(rows, other) === undefined
      ? bringBeside(store, other, port.beside(other.sessionId))
      : undefined,
  );
}

/** Engines come and go while a session is open. */
const openings = new WeakMap<SessionRows, Opening>();

/** Kinds of rows that a view shows nothing of. */
const WAITING: ReadonlySet<string> = new Set(["place", "told", "message", "turn"]);

const newOpening = (store: Store, file: string): Opening => ({
  ...{ store, file, ready: undefined, mark: undefined, waiting: [], isShared: true },
  sharing: Promise.resolve(),
});

/** What is new in the store waits to be shared. */
function note(store: Store, session: OwnedSession, opening: Opening): void {
  store.read((sql) => {
    const place = placeOf(sql, session);
    if (place === undefined) return;
    const isSame = opening.mark?.conversation === place.conversation;
    const { rows, mark } = rowsBehind(sql, isSame ? opening.mark! : place.conversation);
    if (!isSame)
      opening.waiting.push(...turnRows(sql, place.conversation), familyRow(sql, session));
    opening.waiting.push(...rows);
    opening.mark = mark;
  });
}

/** Others may add to it meanwhile. */
async function send(shared: SessionRows, opening: Opening): Promise<void> {
  const { waiting } = opening;
  if (waiting.length === 0 || !opening.isShared) return;
  const rows = [...waiting];
  const outcome = await shared.store(rows);
  if (outcome === "lost") opening.isShared = false;
  else waiting.splice(0, rows.length);
}

async function catchUpWith(
  store: Store,
  session: OwnedSession,
  { shared: port, opening, told }: { shared: SessionRows; opening: Opening; told: Told },
): Promise<void> {
  const brought = await bringUp(store, session, port, { movesOthers: true });
  if (brought.kind === "kept") {
    const { own, shared } = brought;
    opening.mark = own?.mark;
    opening.waiting.push(
      ...shared.doubled.map(goneRow),
      ...(own === undefined ? [] : notAmong(own.rows, brought)),
    );
    return;
  }
  if (brought.kind === "unusable") {
    // What is made of the session from now on takes its place.
    opening.isShared = !brought.isNewer;
    opening.waiting.push(...brought.loaded.map((row) => ({ ...row, body: null })));
    return told.onUnusable?.(session, brought);
  }
  opening.isShared = brought.kind === "taken";
  if (brought.kind === "apart") return told.onApart?.(session);
  opening.waiting.push(...brought.gone.map(goneRow));
  opening.mark = (await patiently(() => ownRows(store, session)))?.mark;
}
