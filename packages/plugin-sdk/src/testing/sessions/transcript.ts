// A session of the kit's host with its tree of entries.
import type { CompactResult } from "../../contract/lifecycle.ts";
import type { AgentMessage, UserBlock } from "../../contract/message.ts";
import { blocksOf } from "../../messages/blocks.ts";
import { extractiveSummary } from "../../record/extractive-summary.ts";
import { estimateMessages } from "../../tokens/message.ts";
import { activeBranch } from "../../transcript/branch.ts";
import { buildContext } from "../../transcript/context.ts";
import type { ContextItem } from "../../transcript/context-item.ts";
import type { NewTranscriptEntry, TranscriptEntry } from "../../transcript/entries.ts";
import { freshTail } from "../../transcript/fresh-tail.ts";
import { messageId } from "../../transcript/message-id.ts";
import { originsOf, placeEntry, withOrigin } from "../../transcript/origin.ts";
import { headOf, textOf } from "../../transcript/text.ts";
import { FIRST_TIMESTAMP } from "../messages.ts";
import { differs } from "./content.ts";
import { markOf, newTag } from "./marks.ts";
import type { Redacted } from "./script.ts";

/** Characters that a host without ids shows of a result. */
const MOST_RESULT_CHARS = 3_000;

export class Transcript {
  readonly tag: string;
  /** Of every session whose messages this one may hold. */
  readonly tags: Set<string>;
  sessionId: string;
  readonly sessionKey: string;
  entries: TranscriptEntry[] = [];
  /** The newest entry of the branch; null = none. */
  leaf: string | null = null;
  /** Everything that was ever stored or shown under an id. */
  readonly versions = new Map<string, AgentMessage[]>();
  /** Ids in the order in which they were first stored. */
  readonly said: string[] = [];
  #count = 0;
  #placed = 0;
  /** Ends of branches that were left, the newest last. */
  readonly #left: string[] = [];
  #given = new WeakMap<AgentMessage, string>();
  readonly #ways: Ways;
  /** What messages said before they were rewritten, by their ids. */
  readonly withdrawn = new Map<string, AgentMessage[]>();

  constructor(copied?: Transcript, key?: string, ways: Ways = ORDINARY_WAYS) {
    this.#ways = ways;
    this.tag = newTag();
    this.tags = new Set([this.tag, ...(copied?.tags ?? [])]);
    this.sessionId = `kit-${this.tag}`;
    this.sessionKey = key ?? `agent:kit:${this.tag}`;
    if (copied === undefined) return;
    this.entries = structuredClone(copied.entries);
    this.leaf = copied.leaf;
    this.#placed = copied.#placed;
    for (const [id, versions] of copied.versions) this.versions.set(id, [...versions]);
    for (const [id, versions] of copied.withdrawn) this.withdrawn.set(id, [...versions]);
    this.said.push(...copied.said);
  }

  /** Where the next message stands. */
  next() {
    const number = this.#count++;
    const seconds = this.#ways.oddTimes ? oddly(number) : number;
    return { tag: this.tag, number, timestamp: FIRST_TIMESTAMP + seconds * 1000 };
  }

  branch(): TranscriptEntry[] {
    return activeBranch(this.entries, this.leaf);
  }

  items(): readonly ContextItem[] {
    return buildContext(this.branch()).items;
  }

  /** Fresh copies of the active messages, as a host hands them over. */
  history({ ids, times, merges, newest }: HandOver = WHOLE): AgentMessage[] {
    const items = this.items();
    const all = items.flatMap(({ id, message }, at) => {
      const given = ids ? structuredClone(message) : stripped(message, times);
      if (!merges) return [this.#handOver(id, given)];
      if (isPersons(message) && items[at + 1] && isPersons(items[at + 1]!.message)) return [];
      const first =
        items.findLastIndex((item, index) => index < at && !isPersons(item.message)) + 1;
      const all = items.slice(first, at).map((item) => item.message);
      return [this.#handOver(id, isPersons(given) ? mergedInto(given, all) : given)];
    });
    return all.slice(startOfNewest(all, newest));
  }

  /** Remembered as a version of its id. */
  #handOver(id: string, given: AgentMessage): AgentMessage {
    this.#given.set(given, id);
    const versions = this.versions.get(id) ?? [];
    this.versions.set(id, versions);
    if (!versions.some((one) => !differs(one, given))) versions.push(structuredClone(given));
    return given;
  }

  idOf = (message: AgentMessage): string | undefined =>
    messageId(message) ?? this.#given.get(message);

  versionsOf = (message: AgentMessage): readonly AgentMessage[] => {
    const id = this.idOf(message);
    return (id === undefined ? undefined : this.versions.get(id)) ?? [message];
  };

  /** With those that it had before it was rewritten. */
  readonly everOf = (message: AgentMessage): readonly AgentMessage[] => [
    ...this.versionsOf(message),
    ...(this.withdrawn.get(this.idOf(message) ?? "") ?? []),
  ];

  /** The first version of everything that was said, with its id. */
  allSaid(): AgentMessage[] {
    return this.said.map((id) => ({
      ...this.versions.get(id)![0]!,
      __openclaw: { ...this.versions.get(id)![0]!.__openclaw, id },
    }));
  }

  append(said: NewTranscriptEntry): string {
    const hasNoTime = this.#ways.oddTimes && this.#placed % 4 === 2;
    const entry = hasNoTime && said.type === "message" ? withoutTime(said) : said;
    const placed = this.#place(entry);
    const item = buildContext([placed]).items[0];
    // A message of the same id was appended again, not said again.
    if (item !== undefined && placed.type !== "compaction" && !this.versions.has(item.id)) {
      this.said.push(item.id);
      this.versions.set(item.id, [item.message]);
    }
    return item?.id ?? placed.id;
  }

  #place(entry: NewTranscriptEntry): TranscriptEntry {
    const place = (this.#placed++).toString(16).padStart(4, "0");
    const id = this.#ways.repeatsIds ? `kit-${place}` : `${this.tag}-${place}`;
    const timestamp = new Date(FIRST_TIMESTAMP + this.#count * 1000).toISOString();
    const placed = placeEntry(structuredClone(entry), { id, parentId: this.leaf, timestamp });
    this.entries.push(placed);
    this.leaf = id;
    return placed;
  }

  /** The person goes back to the state before their last `turns` messages. */
  goBack(turns: number): boolean {
    const branch = this.branch();
    const prompts = branch.flatMap((entry, index) =>
      entry.type === "message" && entry.message.role === "user" ? [index] : [],
    );
    const at = prompts.at(-turns);
    if (at === undefined || at === 0) return false;
    if (this.leaf !== null) this.#left.push(this.leaf);
    this.#goOnFrom(branch[at - 1]!.id);
    return true;
  }

  /** The person returns to the newest branch that was left. */
  goForth(): boolean {
    const leaf = this.#left.pop();
    if (leaf === undefined || !this.entries.some(({ id }) => id === leaf)) return false;
    this.#goOnFrom(leaf);
    return true;
  }

  #goOnFrom(leaf: string): void {
    this.leaf = leaf;
    // What a file's last line follows is what its reader takes for the branch.
    this.#place({ type: "custom", customType: "kit-branch" });
  }

  /** The file is as it was before the newest `turns` messages of the person were stored. */
  restore(turns: number): boolean {
    const prompts = this.entries.flatMap((entry, index) =>
      entry.type === "message" && entry.message.role === "user" ? [index] : [],
    );
    const at = prompts.at(-turns);
    if (at === undefined || at === 0) return false;
    this.entries = this.entries.slice(0, at);
    this.leaf = this.entries.at(-1)!.id;
    return true;
  }

  /** The file holds the present branch only. */
  rewrite(): void {
    this.entries = this.branch();
  }

  /** The host shortens its oldest result and appends everything from there on again. */
  shorten(): boolean {
    const branch = this.branch();
    const cut = branch.findLastIndex(({ type }) => type === "compaction");
    const at = branch.findIndex(
      (entry, index) =>
        entry.type === "message" &&
        entry.message.role === "toolResult" &&
        index > cut &&
        index < branch.length - 3,
    );
    const entry = branch[at];
    if (entry?.type !== "message" || entry.message.role !== "toolResult") return false;
    const content = [{ type: "text" as const, text: "[shortened]" }];
    const shortened = { ...entry, message: { ...entry.message, content } };
    this.versions.get(messageId(entry.message)!)?.push(shortened.message);
    this.leaf = entry.parentId;
    this.#placeAgain([shortened, ...branch.slice(at + 1)], originsOf(branch));
    return true;
  }

  /** Rewrites the longest result, or the oldest request or reply of what is not compacted. */
  redact(of: Redacted): boolean {
    const branch = this.branch();
    const cut = branch.findLastIndex(({ type }) => type === "compaction");
    const found = branch
      .slice(cut + 1)
      .flatMap((entry) =>
        entry.type === "message" &&
        entry.message.role === of &&
        isTextOnly(entry.message) &&
        !textOf(entry.message).startsWith(REDACTED)
          ? [entry]
          : [],
      );
    const entry =
      of === "toolResult" ? found.toSorted((a, b) => sizeOf(b) - sizeOf(a))[0] : found[0];
    if (entry === undefined) return false;
    const content = [
      { type: "text" as const, text: `${REDACTED} ${markOf(this.tag, this.#count++)}` },
    ];
    const message = { ...entry.message, content } as AgentMessage;
    const at = this.entries.findIndex(({ id }) => id === entry.id);
    this.entries[at] = { ...entry, message };
    const id = buildContext([{ ...entry, message, parentId: null }]).items[0]!.id;
    this.withdrawn.set(id, [...(this.withdrawn.get(id) ?? []), ...(this.versions.get(id) ?? [])]);
    this.versions.set(id, [message]);
    return true;
  }

  /** Goes on in another transcript with the same messages; `entries`: or with these. */
  move(sessionId: string, entries?: readonly TranscriptEntry[]): void {
    const branch = this.branch();
    this.sessionId = sessionId;
    this.entries = [];
    this.leaf = null;
    if (entries === undefined) {
      this.#placeAgain(branch, originsOf(branch));
      return;
    }
    this.entries = structuredClone([...entries]);
    this.leaf = entries.at(-1)?.id ?? null;
    for (const { id, message } of this.items())
      if (!this.versions.has(id)) this.versions.set(id, [message]);
  }

  #placeAgain(entries: readonly TranscriptEntry[], origins: ReadonlyMap<string, string>): void {
    const places = new Map<string, string>();
    for (const { id, parentId: _parent, timestamp: _time, ...rest } of entries) {
      const again = { ...rest } as NewTranscriptEntry;
      if (again.type === "compaction")
        again.firstKeptEntryId = places.get(again.firstKeptEntryId) ?? "";
      const placed = this.#place(again);
      places.set(id, placed.id);
      this.entries[this.entries.length - 1] = withOrigin(placed, origins.get(id) ?? id);
    }
  }

  /** The host's built-in compaction: a summary made by code stands for all but the newest turn. */
  compact(): CompactResult {
    const items = this.items();
    const messages = items.map(({ message }) => message);
    const { start } = freshTail(messages, { turns: 1 });
    if (start === 0)
      return { ok: true, compacted: false, code: "nothing-to-compact", reason: "all is new" };
    const summary = extractiveSummary({ messages: messages.slice(0, start), maxTokens: 200 });
    const tokensBefore = estimateMessages(messages).estimate;
    const kept = [{ role: "compactionSummary" as const, summary }, ...messages.slice(start)];
    if (estimateMessages(kept).estimate >= tokensBefore)
      return { ok: true, compacted: false, code: "no-gain", reason: "it would not be smaller" };
    const firstKeptEntryId = items[start]!.entryId;
    this.append({ type: "compaction", summary, firstKeptEntryId, tokensBefore });
    const tokensAfter = estimateMessages(this.items().map(({ message }) => message)).estimate;
    const result = { summary, firstKeptEntryId, tokensBefore, tokensAfter };
    return { ok: true, compacted: true, result };
  }

  /** The session's file, as hosts write it. */
  text(endsLines: boolean): string {
    const timestamp = new Date(FIRST_TIMESTAMP).toISOString();
    const header = { type: "session", version: 3, id: this.sessionId, timestamp, cwd: "" };
    const lines = [header, ...this.entries].map((line) => JSON.stringify(line)).join("\n");
    return endsLines ? `${lines}\n` : lines;
  }
}

/** How a host hands messages over. */
export interface HandOver {
  ids: boolean;
  times: boolean;
  merges: boolean;
  /** Turns, the newest; null = all. */
  newest: number | null;
}

const WHOLE: HandOver = { ids: true, times: true, merges: false, newest: null };

/** How a host names and dates messages. */
interface Ways {
  oddTimes: boolean;
  repeatsIds: boolean;
}

const ORDINARY_WAYS: Ways = { oddTimes: false, repeatsIds: false };

/** The time of the message before, or one long before it, or its own. */
const oddly = (number: number) =>
  number % 5 === 1 ? number - 1 : number % 5 === 3 ? -number : number;

const withoutTime = (entry: Extract<NewTranscriptEntry, { type: "message" }>): typeof entry => {
  const { timestamp: _time, ...message } = entry.message;
  return { ...entry, message };
};

/** Where the newest `turns` begin; null = all. */
export function startOfNewest(given: readonly AgentMessage[], turns: number | null): number {
  if (turns === null) return 0;
  const prompts = given.flatMap(({ role }, at) => (role === "user" ? [at] : []));
  return prompts.at(-turns) ?? 0;
}

const REDACTED = "[rewritten]";

const isTextOnly = (message: AgentMessage): boolean =>
  "content" in message &&
  blocksOf(message.content).length > 0 &&
  blocksOf(message.content).every(({ type }) => type === "text") &&
  messageKind(message) !== "heartbeat";

const messageKind = ({ __openclaw: envelope }: AgentMessage) => envelope?.kind;

const sizeOf = ({ message }: { message: AgentMessage }) => textOf(message).length;

const isPersons = ({ role, __openclaw: envelope }: AgentMessage): boolean =>
  role === "user" && envelope?.kind !== "heartbeat";

/** One message of the person that says what `earlier` ones said, too. */
function mergedInto(message: AgentMessage, earlier: readonly AgentMessage[]): AgentMessage {
  if (message.role !== "user" || earlier.length === 0) return message;
  const all = [...earlier, message] as (typeof message)[];
  const content = all.flatMap((one) => blocksOf(one.content)) as unknown as UserBlock[];
  return { ...message, content };
}

/** As hosts without ids hand it over: what a model needs, and no more. */
function stripped(message: AgentMessage, times: boolean): AgentMessage {
  const { __openclaw: envelope, ...rest } = structuredClone(message);
  if (!times) {
    delete rest.timestamp;
    delete rest.idempotencyKey;
  }
  const { id: _id, ...others } = envelope ?? {};
  const bare = {
    ...rest,
    ...(Object.keys(others).length > 0 && { __openclaw: others }),
  } as AgentMessage;
  if (bare.role !== "toolResult") return bare;
  const { details: _details, ...result } = bare;
  const content = result.content.map((block) =>
    block.type === "text" && block.text.length > MOST_RESULT_CHARS
      ? { ...block, text: `${headOf(block.text, MOST_RESULT_CHARS)}\n[shortened by the host]` }
      : block,
  );
  return { ...result, content };
}
