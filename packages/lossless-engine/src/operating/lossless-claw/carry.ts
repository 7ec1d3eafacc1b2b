// Carries a conversation of lossless-claw into a store, each message once, in pieces.
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { type AgentMessage, ContextEngineError } from "@clew/plugin-sdk/core";
import { textOf, withMessageId } from "@clew/plugin-sdk/transcript";
import { isNameless, type NamedMessage, OLD_PREFIX } from "../../messages/name.ts";
import { ABSENT, textsIn } from "../../messages/placeholder.ts";
import { patiently } from "../../patiently.ts";
import type { OwnedSession } from "../../sessions/owner.ts";
import { type Buried, buriedOf } from "../../store/buried.ts";
import type { ClawConversation, ClawSource } from "../../store/lossless-claw/source.ts";
import { knownNames, storeMessages } from "../../store/messages.ts";
import type { Store } from "../../store/store.ts";
import { othersTurn, pieceOfTime } from "../../turns.ts";
import { readSession } from "../read-session.ts";
import { type FileContents, messageOf } from "./message.ts";
import { type Foreign, keyOf, type Merged, planMerge } from "./plan-merge.ts";
import { lastMessages, madeOf } from "./plan-summaries.ts";
import { quotedSummary } from "./summary.ts";

/** What of a conversation is carried, whence and where to. */
export interface Carrying {
  readonly source: ClawSource;
  /** For each message anew. */
  readonly contents: () => FileContents;
  readonly conversation: ClawConversation;
  readonly session: OwnedSession;
  /** Undefined: there is none. */
  readonly sessionFile: string | undefined;
  readonly keepsSummaries: boolean;
  /** See `buriedOf`: of the store, for all conversations. */
  readonly taken: Set<number>;
  /** Undefined: it is only told of. */
  readonly store: Store | undefined;
  readonly signal: AbortSignal | undefined;
}

/** What came of it. See `Migration`. */
export interface Carried {
  messages: number;
  fromTranscripts: number;
  added: number;
  summaries: number;
  forgotten: number;
  withoutId: number;
  rewritten: number;
  readonly missing: string[];
  readonly left: string[];
}

/** A message or a summary by its row; what it says is read again when it is stored. */
interface Item extends Foreign {
  readonly row: number;
  readonly name: string;
  /** Of a message its id, of a summary its own. */
  readonly of: { readonly message: number } | { readonly summary: string };
}

export async function carryConversation(carrying: Carrying): Promise<Carried> {
  const { store, session, conversation, taken } = carrying;
  const carried: Carried = {
    ...{ messages: 0, fromTranscripts: 0, added: 0, summaries: 0, forgotten: 0, withoutId: 0 },
    ...{ rewritten: 0, missing: [], left: [] },
  };
  const items = await itemsOf(carrying, carried);
  const plan = planMerge(items, await toldIn(carrying, carried));
  const buried =
    store && (await patiently(() => store.read((sql) => buriedOf(sql, session, taken))));
  const gone = await forgottenIn(carrying, plan.items, buried);
  const lost = summariesLost(carrying, gone.ids);
  const kept = plan.items.filter(
    ({ foreign, told }) =>
      told !== null ||
      !(gone.items.has(foreign!) || ("summary" in foreign!.of && lost(foreign!.of.summary))),
  );
  const summaries = kept.filter(({ foreign }) => foreign !== null && "summary" in foreign.of);
  const left = items.filter(({ of }) => "summary" in of).length - summaries.length;
  if (left > 0)
    carried.left.push(
      `${left === 1 ? "a summary" : `${left} summaries`} of what was forgotten here, in ${nameOf(conversation)}`,
    );
  carried.fromTranscripts = plan.shared;
  carried.forgotten = gone.items.size;
  carried.summaries = summaries.length;
  carried.withoutId = kept.filter(
    ({ foreign, told }) => told === null && "message" in foreign!.of && isOwnName(foreign!.name),
  ).length;
  if (store !== undefined) await storeEach({ ...carrying, store }, kept, carried);
  return carried;
}

/** For people. */
const nameOf = ({ sessionKey, sessionId }: ClawConversation): string =>
  `the session ${sessionKey === "" ? sessionId : sessionKey}`;

const isOwnName = (name: string) => name.startsWith(OLD_PREFIX);

/** Its messages, and each summary behind the last of those that it was made of. */
async function itemsOf(
  { source, conversation, contents, keepsSummaries, signal }: Carrying,
  carried: Carried,
): Promise<readonly Item[]> {
  const rows = source.messagesOf(conversation.id);
  const last = lastMessages(
    source.edges,
    rows.map(({ id }) => id),
  );
  const summaries = keepsSummaries ? source.summariesOf(conversation.id) : [];
  const byLast = Map.groupBy(summaries, ({ id }) => last.get(id));
  const summariesOf = (message: number | undefined): Item[] => {
    const found = byLast.get(message) ?? [];
    byLast.delete(message);
    return found.flatMap(({ row, id }): Item[] => {
      const item = { row, name: `${OLD_PREFIX}${id}`, entryId: null, key: "", of: { summary: id } };
      if (source.summary(row) !== null) return [item];
      carried.left.push(`summary ${id} of ${nameOf(conversation)} is larger than 64 MB`);
      return [];
    });
  };
  const items = summariesOf(undefined);
  const entries = entriesMet();
  let doubled = 0;
  let isOver = pieceOfTime();
  for (const { row, id } of rows) {
    const stored = source.message(row);
    if (stored === null)
      carried.left.push(`message ${id} of ${nameOf(conversation)} is larger than 64 MB`);
    else {
      const { message, rewritten, missing } = messageOf(stored, contents());
      const { entryId, isTold } = entries.idOf(stored.entryId, message);
      const name =
        entryId === null || isNameless(entryId) ? `${OLD_PREFIX}${conversation.id}:${id}` : entryId;
      if (isTold) doubled++;
      else {
        items.push({ row, name, entryId, key: keyOf(message), of: { message: id } });
        carried.messages++;
        carried.rewritten += rewritten;
        carried.missing.push(...missing);
      }
    }
    items.push(...summariesOf(id));
    if (!isOver()) continue;
    await othersTurn();
    signal?.throwIfAborted();
    isOver = pieceOfTime();
  }
  if (doubled > 0)
    carried.left.push(
      `${doubled === 1 ? "a message" : `${doubled} messages`} of ${nameOf(conversation)} told once more under the same id`,
    );
  return items;
}

/** Whose ids were met: of two messages that say different things one has the id of the other. */
function entriesMet() {
  const met = new Map<string, string>();
  return {
    idOf(entryId: string | null, { timestamp: _, ...message }: AgentMessage) {
      if (entryId === null) return { entryId, isTold: false };
      const words = createHash("sha256").update(JSON.stringify(message)).digest("base64");
      const told = met.get(entryId);
      met.set(entryId, told ?? words);
      return { entryId: told === undefined ? entryId : null, isTold: told === words };
    },
  };
}

/** More than a host writes in years. */
const MOST_FILE_BYTES = 512 * 1024 * 1024;

/** What its session file tells; nothing where there is none, or none that can be read. */
async function toldIn(
  { sessionFile, signal }: Carrying,
  { left }: Carried,
): Promise<readonly NamedMessage[]> {
  const found = sessionFile && statSync(sessionFile, { throwIfNoEntry: false });
  if (!found) return [];
  if (!found.isFile() || found.size > MOST_FILE_BYTES) {
    left.push(`what ${sessionFile} tells, which is no file, or larger than 512 MB`);
    return [];
  }
  try {
    return (await readSession(sessionFile!, signal)).messages;
  } catch (error) {
    if (!ContextEngineError.is(error)) throw error;
    left.push(`what a session file tells: ${error.message.replace(/\.$/, "")}`);
    return [];
  }
}

/** Messages that were forgotten here: items of them that are left out, and all of their ids. */
async function forgottenIn(
  carrying: Carrying,
  merged: Merged<Item>,
  buried: Buried | undefined,
): Promise<{ items: ReadonlySet<Item>; ids: ReadonlySet<number> }> {
  const items = new Set<Item>();
  const ids = new Set<number>();
  const { store, session, signal } = carrying;
  let isOver = pieceOfTime();
  for (const { foreign, told } of merged) {
    if (foreign === null || !("message" in foreign.of)) continue;
    const { name, of } = foreign;
    if (told !== null) {
      const isGone = textOf(told.message) === ABSENT.forgotten || buried?.hasName(told.name);
      if (isGone) ids.add(of.message);
      continue;
    }
    if (store === undefined || buried === undefined || buried.isEmpty) continue;
    const isKnown = () => knownNames(store, session, [name]).known.has(name);
    if (
      buried.hasName(name) ||
      (!(await patiently(isKnown)) && buried.take(messageAt(carrying, foreign).message))
    ) {
      items.add(foreign);
      ids.add(of.message);
    }
    if (!isOver()) continue;
    await othersTurn();
    signal?.throwIfAborted();
    isOver = pieceOfTime();
  }
  return { items, ids };
}

/** True for a summary of what was forgotten; where something was, of unknown messages too. */
function summariesLost(
  { source, conversation }: Carrying,
  gone: ReadonlySet<number>,
): (summary: string) => boolean {
  if (gone.size === 0) return () => false;
  const made = madeOf(source.edges, gone);
  const ids = source.messagesOf(conversation.id).map(({ id }) => id);
  const known = lastMessages(source.edges, ids);
  return (summary) => made.has(summary) || !known.has(summary);
}

/** Messages, and characters, that are stored in one transaction. */
const BATCH = 32;
const BATCH_CHARS = 4_000_000;

async function storeEach(
  carrying: Carrying & { readonly store: Store },
  merged: Merged<Item>,
  carried: Carried,
): Promise<void> {
  const { store, session, signal } = carrying;
  let batch: NamedMessage[] = [];
  let chars = 0;
  const flush = async () => {
    const messages = batch;
    [batch, chars] = [[], 0];
    const request = { session, messages, from: "told" } as const;
    const storing = await patiently(() => storeMessages(store, request), signal);
    carried.added += storing.added;
    carried.left.push(...storing.refused.map(({ name, why }) => `message ${name} (${why})`));
    await othersTurn();
    signal?.throwIfAborted();
  };
  for (const { foreign, told } of merged) {
    const next = told ?? messageAt(carrying, foreign!);
    batch.push(next);
    chars += textsIn(next.message).reduce((sum, text) => sum + text.length, 0);
    if (batch.length >= BATCH || chars >= BATCH_CHARS) await flush();
  }
  if (batch.length > 0) await flush();
}

/** Under the name that it is known by. */
function messageAt({ source, contents }: Carrying, { row, name, of }: Item): NamedMessage {
  if ("summary" in of) return quotedSummary(source.summary(row)!);
  const { message } = messageOf(source.message(row)!, contents());
  return { name, message: withMessageId(message, name) };
}
