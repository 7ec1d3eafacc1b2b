// Brings a session's part of a database up to what is shared of it.
import type { EngineRow, SessionRows } from "@clew/plugin-sdk/core";
import { patiently } from "../patiently.ts";
import type { OwnedSession } from "../sessions/owner.ts";
import { placeOf } from "../store/conversations.ts";
import type { SharedMessage } from "../store/shared-rows.ts";
import type { Store } from "../store/store.ts";
import { areTaken, holdersOf } from "../store/take-over.ts";
import { type OwnRows, ownRows } from "./own-rows.ts";
import { planSharing, type Shared, type SharingPlan, sharedIn } from "./plan-sharing.ts";
import { takeOver } from "./take-over.ts";
import { whyUnusable } from "./unusable.ts";

/** What was shared when it was asked. */
export interface Loaded {
  readonly loaded: readonly EngineRow[];
  readonly shared: Shared;
}

/** What became of it. */
export type BroughtUp =
  /** The database held all of it. Own undefined: it holds nothing, as nothing is shared. */
  | ({ readonly kind: "kept"; readonly own: OwnRows | undefined } & Loaded)
  /** Others of the database have its numbers. */
  | { readonly kind: "apart" }
  /** It was stored, but for messages that nobody tells, and second numbers of others. */
  | { readonly kind: "taken"; readonly gone: readonly number[] }
  /** It can be stored in no database of this version: the session is made anew. */
  | Unusable;

/** What is shared and can be used by nobody, or by no program as old as this one. */
export interface Unusable {
  readonly kind: "unusable";
  readonly loaded: readonly EngineRow[];
  /** For people. */
  readonly why: string;
  /** True: a newer version can use it. */
  readonly isNewer: boolean;
}

/** What there is to read of a session. */
export type ReadRows = Pick<SessionRows, "load" | "lines">;

/**
 * Ended in the middle, it is begun again by the next. `movesOthers`: sessions that have its numbers
 * here get theirs, where those are shared as others. Throws STORAGE_FAILED.
 */
export async function bringUp(
  store: Store,
  session: OwnedSession,
  port: Pick<SessionRows, "load" | "lines" | "beside">,
  { movesOthers = false } = {},
): Promise<BroughtUp> {
  const bring = () =>
    bringUpAs(store, session, port, async ({ family }) => {
      for (const sessionId of family)
        await bringBefore(store, { ...session, sessionId }, port.beside(sessionId));
    });
  const brought = await bring();
  if (brought.kind !== "apart" || !movesOthers) return brought;
  const numbers = numbersOf(sharedIn(await port.load()));
  for (const other of await patiently(() => holdersOf(store, session, numbers)))
    await bringWhereElsewhere(store, other, port.beside(other.sessionId));
  return bring();
}

/** What is shared of a session, where it has another place here than that says. */
async function bringWhereElsewhere(
  store: Store,
  session: OwnedSession,
  port: ReadRows,
): Promise<void> {
  const { conversation } = sharedIn(await port.load());
  const place = await patiently(() => store.read((sql) => placeOf(sql, session)));
  if (conversation === null || conversation === place?.conversation) return;
  await bringBeside(store, session, port);
}

const numbersOf = ({ conversation, messages, summaries }: Shared) => ({
  conversation: conversation ?? 0,
  messages: [...messages.keys()],
  summaries: [...summaries.keys()],
});

/** The same of a session that is not open, whatever was said before it was begun anew. */
export const bringBeside = (
  store: Store,
  session: OwnedSession,
  port: ReadRows,
): Promise<BroughtUp> => bringUpAs(store, session, port, async () => {});

/** What is shared of a session that is not open, where nothing of it is here. */
async function bringBefore(store: Store, session: OwnedSession, port: ReadRows): Promise<void> {
  const isHere = await patiently(() => store.read((sql) => placeOf(sql, session) !== undefined));
  if (!isHere) await bringBeside(store, session, port);
}

async function bringUpAs(
  store: Store,
  session: OwnedSession,
  port: ReadRows,
  bringFamily: (shared: Shared) => Promise<void>,
): Promise<BroughtUp> {
  const loaded = await port.load();
  const unusable = (error: unknown): Unusable => {
    const found = whyUnusable(error);
    if (found === null) throw error;
    return { kind: "unusable", loaded, ...found };
  };
  let shared: Shared;
  try {
    shared = sharedIn(loaded);
  } catch (error) {
    return unusable(error);
  }
  await bringFamily(shared);
  const own = await patiently(() => ownRows(store, session));
  const plan = planSharing(shared, own === undefined ? sharedIn([]) : own.shared);
  if (plan.kind === "keep") return { kind: "kept", own, loaded, shared };
  try {
    const gone = await takeWhereFree(store, session, { port, plan, shared });
    if (gone === null) return { kind: "apart" };
    return { kind: "taken", gone: [...gone.map(({ seq }) => seq), ...shared.doubled] };
  } catch (error) {
    return unusable(error);
  }
}

/** Null: other sessions have its numbers, and nothing is done. */
async function takeWhereFree(
  store: Store,
  session: OwnedSession,
  {
    port,
    plan,
    shared,
  }: { port: ReadRows; plan: Exclude<SharingPlan, { kind: "keep" }>; shared: Shared },
): Promise<readonly SharedMessage[] | null> {
  const conversation = shared.conversation!;
  if (await patiently(() => areTaken(store, session, numbersOf(shared)))) return null;
  return takeOver(store, session, { port, plan, shared, conversation });
}
