// Opens a database for programs that are no host, and answers what they ask of it.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { type Verification, type VerifyOptions, verifyStore } from "../audit/verify.ts";
import { engineOn } from "../engine.ts";
import {
  type Elsewhere,
  type ElsewherePlan,
  type ForgetPlan,
  type ForgetRequest,
  planElsewhere,
  planForget,
  tracesOf,
} from "../forget/plan.ts";
import { historyOf } from "../ingest/history.ts";
import { withName } from "../messages/name.ts";
import { patiently } from "../patiently.ts";
import { searchRanked } from "../search/ranked.ts";
import { search } from "../search/search.ts";
import { storageError } from "../store/failure.ts";
import { type Forgetting, forget } from "../store/forget.ts";
import { type Graves, gravesOf } from "../store/graves.ts";
import { messagesBySeq, sessionConversations } from "../store/recall.ts";
import type { StoredMessage } from "../store/rows.ts";
import { isStale, scrub } from "../store/scrub.ts";
import { createStores } from "../stores.ts";
import { READER } from "../summaries/facts.ts";
import {
  assertBudget,
  assertFile,
  assertForgetRequest,
  assertForgetting,
  assertMessages,
  assertQuery,
  assertSession,
  patternRefused,
  refusedPlan,
} from "./asked.ts";
import { withOwnId } from "./own-ids.ts";
import { withoutTools } from "./without-tools.ts";

/** How a store is opened. */
export interface OpenOptions {
  /** True: new texts are kept compressed, which takes time and saves room. Absent: false. */
  readonly compress?: boolean | undefined;
}

/** What a model is to be shown. */
export interface ViewRequest {
  /** Its name. */
  readonly session: string;
  /** Tokens that the view may take. */
  readonly tokenBudget: number;
  /** What the session said, oldest first. Absent: all that is stored of it, which is read first. */
  readonly messages?: readonly AgentMessage[] | undefined;
}

/** What a model is shown. */
export interface View {
  /** In the order to send them; a `compactionSummary` stands for what came before. */
  readonly messages: readonly AgentMessage[];
  /** Of all of them. */
  readonly estimatedTokens: number;
}

/** What to look for. */
export interface StoreQuery {
  /** Words, or a pattern. */
  readonly query: string;
  /**
   * "words": all of them, whatever their endings, newest first. "pattern": a regular expression,
   * newest first. "relevance": those that hold most of the words, best first. Absent: words.
   */
  readonly by?: "words" | "pattern" | "relevance" | undefined;
  /** Absent: in all sessions. */
  readonly session?: string | undefined;
  /** Messages to find, at most. Absent: 20. */
  readonly limit?: number | undefined;
  /** Only messages with smaller numbers, for the next page. Absent: all; no part of relevance. */
  readonly olderThan?: number | undefined;
  /** Ends it. Absent: nothing does. */
  readonly signal?: AbortSignal | undefined;
}

/** A message that is stored. */
export interface ReadMessage {
  /** Its number, the same for good. */
  readonly number: number;
  /** Whole, with the id it is known by. */
  readonly message: AgentMessage;
  /** Number of its turn in its session; 0 = before the first request. */
  readonly turn: number;
  /** False: its row is damaged, and the message says only that. */
  readonly isReadable: boolean;
}

/** A message that was found. */
export interface FoundMessage extends ReadMessage {
  /** The line around the place, or as much of it as a line on paper holds. */
  readonly excerpt: string;
}

/** What a search came to. */
export interface FoundMessages {
  /** In the order that was asked for. */
  readonly found: readonly FoundMessage[];
  /** True: all was looked at, and no more is there. */
  readonly isComplete: boolean;
  /** For the next page. Null: there is none, or none is known. */
  readonly olderThan: number | null;
}

/** An open database of messages. Several may have one file open. */
export interface MessageStore {
  /** Absolute path of the file. */
  readonly path: string;
  /**
   * Stores messages, oldest first; `added` are those that were not there before. One that has an
   * `id` (or `messageId`) is known by it, however often it is told.
   */
  ingest(session: string, messages: readonly AgentMessage[]): Promise<{ added: number }>;
  /** What of a session fits, after a record of the rest. */
  assemble(request: ViewRequest): Promise<View>;
  /** Throws REQUEST_INVALID for a pattern with references to groups or look-around. */
  search(query: StoreQuery): Promise<FoundMessages>;
  /** A message by its number; null = there is none. */
  describe(number: number): Promise<ReadMessage | null>;
  /** Reads everything, and tells what is not as it was stored. Changes nothing. */
  verify(options?: VerifyOptions): Promise<Verification>;
  /** What would go. Changes nothing. */
  planForget(request: ForgetRequest): Promise<ForgetPlan>;
  /** The plan, with what is known by other files to go, too. Changes nothing. */
  planElsewhere(plan: ForgetPlan, elsewhere: Elsewhere): Promise<ElsewherePlan>;
  /**
   * Takes messages out of the file for good, and leaves placeholders: of what they said no page of
   * it holds a word. Told again, in any session, they stay placeholders. How many they were. It
   * takes what `planForget` or `planElsewhere` answered, or numbers.
   */
  forget(plan: Forgetting | ForgetPlan): Promise<{ forgotten: number }>;
  /** True: something was forgotten or let go, and pages of the file may hold its words. */
  isStale(): Promise<boolean>;
  /** Hashes of these messages, by which `copiesHolding` knows them. */
  gravesOf(numbers: readonly number[]): Promise<Graves>;
  /** All texts of these messages. */
  textsOf(numbers: readonly number[]): Promise<readonly string[]>;
  /** Once is enough; what is asked of it afterwards is refused. */
  close(): void;
}

const LIMIT = 20;
const BOUND_MS = 5_000;
const EXCERPT_CHARS = 160;

/**
 * Opens a database file, or creates it. Throws one sentence where it cannot be used.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { openMessageStore } from "@clew/lossless-engine/store";
 * import { user } from "@clew/plugin-sdk/testing";
 *
 * const store = openMessageStore(":memory:");
 * await store.ingest("support-42", [user("The invoice is INV-2041.")]);
 * const { found } = await store.search({ query: "invoices" });
 * assert.equal(found[0]?.excerpt, "The invoice is INV-2041.");
 * store.close();
 * ```
 */
export function openMessageStore(
  file: string,
  { compress = false }: OpenOptions = {},
): MessageStore {
  assertFile(file);
  const stores = createStores(undefined, { databasePath: file, compress });
  const { path } = stores.ofAgent();
  const engine = engineOn(stores);
  let isClosed = false;
  const opened = () => {
    if (isClosed)
      throw storageError(`The message store ${path} was closed; open it again to use it.`);
    return stores.ofAgent();
  };
  return {
    path,
    async ingest(session, messages) {
      opened();
      assertSession(session, "ingest");
      assertMessages(messages, "ingest");
      const told = { ...refOf(session), messages: messages.map(withOwnId) };
      return { added: (await engine.ingestBatch!(told)).ingestedCount };
    },
    async assemble(asked) {
      const { session, tokenBudget, messages } = asked ?? {};
      assertSession(session, "assemble");
      assertBudget(tokenBudget);
      if (messages !== undefined) assertMessages(messages, "assemble");
      const history = messages ?? (await historyOf(opened(), { session: ownedBy(session) }));
      opened();
      const given = new Map(history.map((message) => [withOwnId(message), message]));
      const request = { ...refOf(session), messages: [...given.keys()], tokenBudget };
      const view = await engine.assemble(request);
      const shown = withoutTools(view.messages, new Set(given.keys()));
      const { estimatedTokens } = view;
      return { messages: shown.map((each) => given.get(each) ?? each), estimatedTokens };
    },
    async search(asked) {
      const store = opened();
      assertQuery({ ...asked });
      const { query, by = "words", session, limit = LIMIT, olderThan, signal } = asked;
      const scope = session === undefined ? null : sessionConversations(store, ownedBy(session));
      const request = { query, scope, limit, accepts: () => true, boundMs: BOUND_MS, signal };
      if (by === "relevance") {
        const ranked = await searchRanked(store, { ...request, skip: 0, prefersNew: false });
        const isComplete = !ranked.hasMore && !ranked.isTimeUp;
        return { found: ranked.hits.map(foundOf), isComplete, olderThan: null };
      }
      const asPlanned = { ...request, mode: by, before: olderThan };
      const { hits, stoppedAt } = await search(store, asPlanned).catch((error: unknown) => {
        throw patternRefused(error);
      });
      return { found: hits.map(foundOf), isComplete: stoppedAt === null, olderThan: stoppedAt };
    },
    async describe(number) {
      const store = opened();
      const [message] = await patiently(() => messagesBySeq(store, [number]));
      return message === undefined ? null : readOf(message);
    },
    async verify(options) {
      return verifyStore(opened(), options);
    },
    async planForget(request) {
      assertForgetRequest(request);
      return planForget(opened(), request);
    },
    planElsewhere: (plan, elsewhere) => planElsewhere(opened(), plan, elsewhere),
    async forget(plan) {
      const store = opened();
      assertForgetting(plan);
      const forgetting = "numbers" in plan ? plan : forgettingOf(plan);
      const forgotten = await patiently(() => forget(store, forgetting, READER));
      if (await patiently(() => isStale(store))) await patiently(() => scrub(store));
      return { forgotten };
    },
    isStale: () => patiently(() => isStale(opened())),
    gravesOf: (numbers) =>
      patiently(() => {
        const messages = messagesBySeq(opened(), [...numbers]);
        return opened().read((sql) => gravesOf(sql, messages));
      }),
    textsOf: (numbers) => tracesOf(opened(), numbers),
    close() {
      isClosed = true;
      stores.release();
    },
  };
}

/** Throws REQUEST_INVALID where something of the plan cannot be forgotten. */
function forgettingOf({ messages, refused, ...plan }: ForgetPlan | ElsewherePlan): Forgetting {
  if (refused.length > 0) throw refusedPlan(refused[0]!);
  return { ...plan, numbers: messages.map(({ number }) => number) };
}

const refOf = (session: string) => ({ sessionId: session, sessionKey: session });
const ownedBy = (session: string) => ({ ...refOf(session), owner: "" });

const readOf = (stored: StoredMessage): ReadMessage => ({
  ...{ number: stored.seq, message: withName(stored), turn: stored.turn },
  isReadable: stored.isDamaged !== true,
});

interface Hit {
  readonly message: StoredMessage;
  readonly text: string;
  readonly match: { readonly start: number; readonly end: number };
}

function foundOf({ message, text, match: { start } }: Hit): FoundMessage {
  const line = text.lastIndexOf("\n", start - 1) + 1;
  const from = start === 0 ? 0 : Math.max(line, start - EXCERPT_CHARS / 2);
  const behind = text.slice(from, from + EXCERPT_CHARS).toWellFormed();
  return { ...readOf(message), excerpt: behind.split("\n", 1)[0]!.trim() };
}
