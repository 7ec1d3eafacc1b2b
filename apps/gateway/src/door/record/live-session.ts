// What is known of a session's transcript while it is open, from its journal.
import type { ReportItem, SentRequest } from "@clew/engine-core";
import type { AgentMessage, AssistantMessage } from "@clew/plugin-sdk/core";
import type { PolicyChange } from "@clew/plugin-sdk/host";
import {
  type NewTranscriptEntry,
  type TranscriptEntry,
  withMessageId,
} from "@clew/plugin-sdk/transcript";
import { messageOf } from "../../inspect/stored-message.ts";
import type { Conversation } from "../../sessions/conversations.ts";
import { originOf } from "../../sessions/origin.ts";
import { leafBeforeUndo, takeBackBehind } from "../../sessions/undo-turn.ts";
import type { DoorJournals, SessionJournal } from "../../storage/door-journals.ts";
import type { RequestEvent } from "../match/known-requests.ts";
import {
  encodeHeader,
  encodeLine,
  type JournalLine,
  readJournal,
  type SessionNotes,
  type StoredMessage,
} from "../memory/journal-lines.ts";
import { type DescribedEntry, describeEntry } from "./describe-entry.ts";
import { GivenReplies } from "./given-replies.ts";
import type { BesideReplies } from "./held-replies.ts";
import { startInCommon } from "./same-reply.ts";

/** The messages that were last described, so that the next request is told by what is new in it. */
export interface DescribedView {
  /** How far the view had moved. */
  key: string;
  /** Of each message, the hash of it and all before it. */
  ends: readonly string[];
  /** Behind each message: how many items there are, and where the next stored one is looked for. */
  marks: readonly { items: number; from: number }[];
  items: readonly ReportItem[];
  /** `chain[i]` is a hash over the items 0..i. */
  chain: readonly string[];
  changes: readonly PolicyChange[];
  leftOut: ReadonlySet<string>;
  /** How many stored messages there were. */
  stored: number;
}

export interface StoredReply {
  id: string;
  message: AssistantMessage;
}

export class LiveSession implements BesideReplies {
  /** Of the newest turn. Absent: none was described. */
  lastView?: DescribedView;
  /** The last turn that was answered. Absent: none was since the session is open. */
  sent?: SentRequest;
  /** Replies to turns. */
  readonly given = new GivenReplies();
  readonly stored: StoredMessage[] = [];
  /** Names of calls, by id. */
  readonly toolNames = new Map<string, string>();
  /** Entries that reports said were not sent, until they are sent again. */
  readonly withheld = new Set<string>();
  readonly #conversation: Conversation;
  readonly #places = new Map<string, number[]>();
  readonly #entries = new Map<string, TranscriptEntry>();
  readonly #described = new Map<string, DescribedEntry>();
  readonly #journal: SessionJournal;
  /**
   * Stored last, and its client may not know of it: of a reply that was ended here, or not in the
   * journal because the process ended in between. What is appended next says what its client has.
   */
  #unsure: TranscriptEntry[] = [];
  #before: RequestEvent | undefined;
  #isBegun = false;

  private constructor(conversation: Conversation, journal: SessionJournal) {
    this.#conversation = conversation;
    this.#journal = journal;
  }

  static async open(
    conversation: Conversation,
    journals: Pick<DoorJournals, "of">,
  ): Promise<LiveSession> {
    const live = new LiveSession(conversation, journals.of(conversation.session.session));
    const journal = readJournal((await live.#journal.read()) ?? "");
    live.#isBegun = journal !== undefined;
    for (const line of journal?.lines ?? []) {
      if (line.event.type === "request") live.#before = line.event;
      live.#remember(line.stored);
      live.given.note(line);
    }
    const branch = conversation.session.branch();
    for (const entry of branch) live.#meet(entry);
    const leafId = journal?.lines.at(-1)?.leafId ?? null;
    const known = branch.findLastIndex(
      (entry) => entry.id === leafId || (leafId !== null && leafBeforeUndo(entry) === leafId),
    );
    // A reply that was to take the place of another may not be in the journal.
    if (branch[known]?.type === "custom" && messageOf(branch[known - 1])?.role !== "assistant")
      live.given.setBeside(leafId!);
    const newest = live.newestReply();
    const isPart = newest?.id === leafId && newest.message.stopReason === "aborted";
    if (isPart) live.#unsure = branch.slice(-1);
    else if (known >= 0 || leafId === null)
      live.#unsure = branch.slice(known + 1).filter((entry) => messageOf(entry) !== undefined);
    return live;
  }

  /** The newest entry; null = there is none. */
  get leafId(): string | null {
    return this.#conversation.session.branch().at(-1)?.id ?? null;
  }

  /** Ids of the entries, in the order of the messages. */
  async append(messages: readonly AgentMessage[]): Promise<string[]> {
    const again = startInCommon(this.#unsure, messages);
    const kept = this.#unsure.splice(0, again).map(({ id }) => id);
    const left = messages.slice(again);
    if (left.length === 0) return kept;
    await this.#setUnsureBeside();
    const appended = await this.#conversation.session.append(left.map(entryOf));
    for (const entry of appended) this.#meet(entry);
    return [...kept, ...appended.map(({ id }) => id)];
  }

  /** Of a model that was asked now: it did not go on from what its client may not know of. */
  async appendReply(message: AssistantMessage): Promise<string[]> {
    await this.#setUnsureBeside();
    return this.append([message]);
  }

  /** It stays in the file alone, unless somebody talked to the session behind it elsewhere. */
  async #setUnsureBeside(): Promise<void> {
    const unsure = this.#unsure.splice(0);
    const [first] = unsure;
    if (first === undefined) return;
    const branch = this.#conversation.session.branch();
    const from = branch.findIndex(({ id }) => id === first.id);
    if (from >= 0 && branch.slice(from).every(isOfDoor))
      await takeBackBehind(this.#conversation, from, "client");
  }

  /** What had arrived of a reply that was ended; calls in it will have no result. */
  async appendPart({ content, ...reply }: AssistantMessage): Promise<string[]> {
    const said = content.filter(
      (block) =>
        (block.type === "text" && block.text !== "") ||
        (block.type === "thinking" && block.thinking !== ""),
    );
    if (said.length === 0) return [];
    const message = { ...reply, content: said };
    const ids = await this.appendReply(message);
    this.#unsure = [this.#entries.get(ids[0]!)!];
    return ids;
  }

  /** The reply that is the newest message. Undefined: it is something else. */
  newestReply(): StoredReply | undefined {
    const entry = this.#conversation.session.branch()[this.#newest()];
    return entry && storedReplyOf(entry);
  }

  /** Behind it stands at most that something was taken back. */
  #newest(): number {
    return this.#conversation.session
      .branch()
      .findLastIndex((entry) => leafBeforeUndo(entry) === null);
  }

  /** Newest first. */
  replies(): StoredReply[] {
    const branch = this.#conversation.session.branch().toReversed();
    return branch.flatMap((entry) => storedReplyOf(entry) ?? []);
  }

  /** The newest reply stays in the file alone, and the next one stands in its place. */
  async setReplyBeside(): Promise<void> {
    await takeBackBehind(this.#conversation, this.#newest(), "client");
  }

  /** A reply that its client did not go on with: it stays in the file alone. */
  async appendBeside(message: AssistantMessage): Promise<string[]> {
    const ids = await this.appendReply(message);
    await this.setReplyBeside();
    return ids;
  }

  /** The entry of a reply with this token that stands beside another one, which it was given. */
  besideWith(token: string): string | undefined {
    const place = this.#places.get(token)?.at(-1) ?? -1;
    const entryId = this.stored[place]?.entries.at(-1);
    if (entryId === undefined || !this.given.hasOthers(entryId)) return undefined;
    const branch = this.#conversation.session.branch();
    return branch.findLastIndex(({ id }) => id === entryId) < 0 ? entryId : undefined;
  }

  isIn(token: string, entryId: string): boolean {
    const places = this.#places.get(token) ?? [];
    return places.some((place) => this.stored[place]!.entries.includes(entryId));
  }

  /** To be stored once more. Undefined: it left the branch before the session was opened. */
  givenAt(entryId: string): AgentMessage | undefined {
    const entry = this.#entries.get(entryId);
    const message = messageOf(entry);
    return message && withMessageId(message, originOf(entry!));
  }

  /** What was stored last, by these tokens, stays in the file alone, unless more came since. */
  async takeBack(tokens: readonly string[]): Promise<void> {
    const found = tokens.flatMap(
      (token) => this.stored.findLast((one) => one.token === token)?.entries ?? [],
    );
    const ids = new Set(found);
    const branch = this.#conversation.session.branch();
    // Where a reply among it was given again, a mark stands between.
    const isOther = (entry: TranscriptEntry) =>
      !ids.has(entry.id) && leafBeforeUndo(entry) === null;
    const before = branch.findLastIndex(isOther);
    const from = branch.findIndex(({ id }, at) => at > before && ids.has(id));
    if (from >= 0) await takeBackBehind(this.#conversation, from, "client");
  }

  /** What was stored by a turn of Clew's own is met, too. */
  catchUp(): void {
    const branch = this.#conversation.session.branch();
    const from = branch.findLastIndex(({ id }) => this.#entries.has(id)) + 1;
    for (const entry of branch.slice(from)) this.#meet(entry);
  }

  /** Before anything is stored of a new session, so that it is found again whatever happens. */
  async begin(event: RequestEvent, notes: SessionNotes): Promise<void> {
    if (this.#isBegun) return;
    const opening: RequestEvent = { ...event, added: [], results: [], opening: true };
    await this.write({ event: opening, stored: [], notes }, 0);
  }

  /** `began`: when the request came, ms of a clock that only goes forward. */
  async write(line: Omit<JournalLine, "leafId">, began: number): Promise<void> {
    const { session } = this.#conversation;
    const text = encodeLine({ ...line, leafId: this.#notedLeaf() }, this.#before);
    const header = this.#isBegun ? "" : encodeHeader(session.session.sessionKey);
    await this.#journal.append(header + text);
    this.#isBegun = true;
    if (line.event.type === "request") this.#before = line.event;
    this.#remember(line.stored);
    this.given.note(line);
    if (line.event.type === "request") this.#noteGoneOn(line.stored, began);
  }

  #noteGoneOn(stored: readonly StoredMessage[], began: number): void {
    const ids = stored.flatMap(({ entries }) => entries);
    const first = ids.find((id) => !this.given.isReply(id));
    if (first === undefined) return;
    const branch = this.#conversation.session.branch();
    let at = branch.findLastIndex(({ id }) => id === first) - 1;
    while (at > 0 && leafBeforeUndo(branch[at]!) !== null) at--;
    if (at >= 0) this.given.goneOn(branch[at]!.id, began);
  }

  /** What its client may not know of is not known behind a restart either. */
  #notedLeaf(): string | null {
    const branch = this.#conversation.session.branch();
    const [first] = this.#unsure;
    const from = first === undefined ? -1 : branch.findIndex(({ id }) => id === first.id);
    return from < 0 ? this.leafId : (branch[from - 1]?.id ?? null);
  }

  /**
   * The place in `stored` of the message with this token that stands next behind `from`, else of
   * any with it; -1: there is none.
   */
  placeOf(token: string, from: number): number {
    const places = this.#places.get(token) ?? [];
    // By halves: what people say they may say very often.
    let [low, high] = [0, places.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (places[middle]! < from) low = middle + 1;
      else high = middle;
    }
    return places[low] ?? places.at(-1) ?? -1;
  }

  /** The message as it was sent back for the first time. */
  learnHash(place: number, hash: string | null): void {
    const known = this.stored[place];
    if (known !== undefined && known.hash === null) this.stored[place] = { ...known, hash };
  }

  isOfPerson(entryId: string): boolean {
    return messageOf(this.#entries.get(entryId))?.role === "user";
  }

  describe(entryId: string): DescribedEntry | undefined {
    const known = this.#described.get(entryId);
    if (known !== undefined) return known;
    const message = messageOf(this.#entries.get(entryId));
    if (message === undefined) return undefined;
    const described = describeEntry(message);
    this.#described.set(entryId, described);
    return described;
  }

  #remember(stored: readonly StoredMessage[]): void {
    for (const one of stored) {
      const place = this.stored.push(one) - 1;
      const places = this.#places.get(one.token);
      if (places === undefined) this.#places.set(one.token, [place]);
      else places.push(place);
    }
  }

  #meet(entry: TranscriptEntry): void {
    this.#entries.set(entry.id, entry);
    if (entry.type !== "message" || entry.message.role !== "assistant") return;
    for (const block of entry.message.content)
      if (block.type === "toolCall") this.toolNames.set(block.id, block.name);
  }
}

/** What people are not shown is an entry of its own kind. */
function entryOf(message: AgentMessage): NewTranscriptEntry {
  if (message.role !== "custom") return { type: "message", message };
  const { customType, content, display } = message;
  return {
    ...{ type: "custom_message", customType, content },
    ...(display !== undefined && { display }),
  };
}

function storedReplyOf({ id, ...entry }: TranscriptEntry): StoredReply | undefined {
  if (entry.type !== "message" || entry.message.role !== "assistant") return undefined;
  return { id, message: entry.message };
}

/** Messages of Clew's own sessions have keys by which they are known; a door's have none. */
const isOfDoor = (entry: TranscriptEntry): boolean => {
  const message = messageOf(entry);
  return message?.role !== "user" || message.idempotencyKey === undefined;
};
