// A session of the kit's host with its tree of entries.
import type { CompactResult } from "../../contract/lifecycle.ts";
import type { AgentMessage, ToolResultBlock, UserBlock } from "../../contract/message.ts";
import type { TranscriptRewriteRequest, TranscriptRewriteResult } from "../../contract/runtime.ts";
import { blocksOf } from "../../messages/blocks.ts";
import { estimateMessages } from "../../tokens/message.ts";
import { activeBranch } from "../../transcript/branch.ts";
import { buildContext, type TranscriptContext } from "../../transcript/context.ts";
import type { ContextItem } from "../../transcript/context-item.ts";
import type { NewTranscriptEntry, TranscriptEntry } from "../../transcript/entries.ts";
import { freshTail } from "../../transcript/fresh-tail.ts";
import { messageId } from "../../transcript/message-id.ts";
import { originsOf, placeEntry, withOrigin } from "../../transcript/origin.ts";
import { headOf, oneLine, textOf } from "../../transcript/text.ts";
import { FIRST_TIMESTAMP } from "../messages.ts";
import { differs } from "./content.ts";
import { copyOf } from "./copies.ts";
import { markOf, newBase, tagsOf } from "./marks.ts";
import type { Redacted } from "./script.ts";

/** From one session's begin to the next one's, longer than any of them. */
const SESSION_MS = 3_600_000;
/** Characters that a host without ids shows of a result. */
const MOST_RESULT_CHARS = 3_000;

export class Transcript {
  readonly tag: string;
  /** Of every session whose messages this one may hold, and how many of that one's. */
  readonly tags: Map<string, number>;
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
  /** The branch as it was read last; what it has of messages stays as long as they do. */
  #context: TranscriptContext | undefined;
  /** What was handed over of each message of it, by how. */
  readonly #handed = new WeakMap<AgentMessage, Map<string, AgentMessage>>();
  readonly #ways: Ways;
  readonly #began: number;
  /** What messages said before they were rewritten, by their ids. */
  readonly withdrawn = new Map<string, AgentMessage[]>();

  /**
   * `ordinal`: which one of a host; `name`: how it is called, `tag`: what its messages are known
   * by. Absent: as nothing else is.
   */
  constructor(
    copied?: Transcript,
    key?: string,
    ways: Ways = ORDINARY_WAYS,
    {
      ordinal = 0,
      name,
      tag = tagsOf({ base: newBase(), run: 0 })(),
    }: { ordinal?: number; name?: string | undefined; tag?: string } = {},
  ) {
    this.#ways = ways;
    this.#began = FIRST_TIMESTAMP + ordinal * SESSION_MS;
    this.tag = tag;
    this.tags = new Map([...(copied?.limits() ?? []), [this.tag, Infinity]]);
    this.sessionId = `kit-${name ?? this.tag}`;
    this.sessionKey = key ?? `agent:kit:${name ?? this.tag}`;
    if (copied === undefined) return;
    this.entries = copyOf(copied.entries);
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
    return { tag: this.tag, number, timestamp: this.#began + seconds * 1000 };
  }

  /** What a copy that is made now may hold, and nothing that is said later. */
  limits(): ReadonlyMap<string, number> {
    return new Map([...this.tags, [this.tag, this.#count]]);
  }

  branch(): TranscriptEntry[] {
    return activeBranch(this.entries, this.leaf);
  }

  items(): readonly ContextItem[] {
    this.#context = buildContext(this.branch(), this.#context);
    return this.#context.items;
  }

  /** The active messages as a host hands them over; nobody may change them. */
  history({ ids, times, merges, newest, trims }: HandOver = WHOLE): AgentMessage[] {
    const items = this.items();
    const newestTurn = items.findLastIndex(({ message }) => isPersons(message));
    const all = items.flatMap(({ id, message }, at) => {
      const isTrimmed = trims && at < newestTurn;
      const make = () => {
        const whole = ids ? copyOf(message) : stripped(message, times);
        return isTrimmed ? trimmed(whole) : whole;
      };
      if (!merges) return [this.#onceOf(message, `${ids} ${times} ${isTrimmed}`, id, make)];
      const given = make();
      if (isPersons(message) && items[at + 1] && isPersons(items[at + 1]!.message)) return [];
      const first =
        items.findLastIndex((item, index) => index < at && !isPersons(item.message)) + 1;
      const all = items.slice(first, at).map((item) => item.message);
      return [this.#handOver(id, isPersons(given) ? mergedInto(given, all) : given)];
    });
    return all.slice(startOfNewest(all, newest));
  }

  #onceOf(message: AgentMessage, way: string, id: string, make: () => AgentMessage): AgentMessage {
    const ways = this.#handed.get(message) ?? new Map<string, AgentMessage>();
    this.#handed.set(message, ways);
    const known = ways.get(way);
    if (known !== undefined) return known;
    const given = this.#handOver(id, make());
    ways.set(way, given);
    return given;
  }

  /** Remembered as a version of its id. */
  #handOver(id: string, given: AgentMessage): AgentMessage {
    this.#given.set(given, id);
    const versions = this.versions.get(id) ?? [];
    this.versions.set(id, versions);
    if (!versions.some((one) => !differs(one, given))) versions.push(copyOf(given));
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
    return this.saidWhere(() => true);
  }

  /** Of those ids. */
  saidWhere(isIt: (id: string) => boolean): AgentMessage[] {
    return this.said.filter(isIt).map((id) => ({
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

  /** Something that is in the file and no message. */
  note(entry: NewTranscriptEntry): void {
    this.#place(entry);
  }

  #place(entry: NewTranscriptEntry): TranscriptEntry {
    const place = (this.#placed++).toString(16).padStart(4, "0");
    const id = `${this.#ways.repeatsIds ? "kit" : this.tag}-${this.#ways.oddNames ? alike(place) : place}`;
    const timestamp = new Date(this.#began + this.#count * 1000).toISOString();
    const placed = placeEntry(copyOf(entry), { id, parentId: this.leaf, timestamp });
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
    if (at === undefined || buildContext(branch.slice(0, at)).items.length === 0) return false;
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
    this.#context = undefined;
    // What a file's last line follows is what its reader takes for the branch.
    this.#place({ type: "custom", customType: "kit-branch" });
  }

  /** The file is as it was before the newest `turns` messages of the person were stored. */
  restore(turns: number): boolean {
    const prompts = this.entries.flatMap((entry, index) =>
      entry.type === "message" && entry.message.role === "user" ? [index] : [],
    );
    const at = prompts.at(-turns);
    if (at === undefined || buildContext(this.entries.slice(0, at)).items.length === 0)
      return false;
    this.entries = this.entries.slice(0, at);
    this.#context = undefined;
    this.leaf = this.entries.at(-1)!.id;
    return true;
  }

  /** The file holds the present branch only. */
  rewrite(): void {
    this.entries = this.branch();
    this.#context = undefined;
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

  /** Stores messages anew that an engine replaced, with everything after the first. */
  replace(replacements: TranscriptRewriteRequest["replacements"]): TranscriptRewriteResult {
    const branch = this.branch();
    const byEntry = new Map(replacements.map(({ entryId, message }) => [entryId, message]));
    let bytesFreed = 0;
    let rewrittenEntries = 0;
    const anew = branch.map((entry) => {
      const message = byEntry.get(entry.id);
      if (entry.type !== "message" || message === undefined) return entry;
      const whole = { ...message, __openclaw: entry.message.__openclaw } as AgentMessage;
      const [before, after] = [entry.message, whole].map((one) => JSON.stringify(one));
      if (before === after) return entry;
      rewrittenEntries++;
      bytesFreed += Math.max(0, before!.length - after!.length);
      this.versions.get(messageId(whole)!)?.push(whole);
      return { ...entry, message: whole };
    });
    const first = anew.findIndex((entry, at) => entry !== branch[at]);
    if (first < 0)
      return { changed: false, bytesFreed, rewrittenEntries, reason: "nothing differs" };
    const origins = originsOf(branch);
    this.leaf = branch[first]!.parentId;
    this.#placeAgain(anew.slice(first), origins);
    return { changed: true, bytesFreed, rewrittenEntries };
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
    this.#context = undefined;
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
    this.#context = undefined;
    this.entries = [];
    this.leaf = null;
    if (entries === undefined) {
      this.#placeAgain(branch, originsOf(branch));
      return;
    }
    this.entries = copyOf([...entries]);
    this.leaf = entries.at(-1)?.id ?? null;
    for (const { id, message } of this.items())
      if (!this.versions.has(id)) this.versions.set(id, [message]);
  }

  #placeAgain(entries: readonly TranscriptEntry[], origins: ReadonlyMap<string, string>): void {
    const places = new Map<string, string>();
    this.#context = undefined;
    for (const { id, parentId: _parent, timestamp: _time, ...rest } of entries) {
      const again = { ...rest } as NewTranscriptEntry;
      if (again.type === "compaction")
        again.firstKeptEntryId = places.get(again.firstKeptEntryId) ?? "";
      const placed = this.#place(again);
      places.set(id, placed.id);
      this.entries[this.entries.length - 1] = withOrigin(placed, origins.get(id) ?? id);
    }
    this.#context = undefined;
  }

  /** The host's built-in compaction: a summary made by code stands for all but the newest turn. */
  compact(): CompactResult {
    const items = this.items();
    const messages = items.map(({ message }) => message);
    const { start } = freshTail(messages, { turns: 1 });
    if (start === 0)
      return { ok: true, compacted: false, code: "nothing-to-compact", reason: "all is new" };
    const summary = headsOf(messages.slice(0, start));
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

/** The beginnings of the first message and the last ones, which have their names in them. */
function headsOf(messages: readonly AgentMessage[]): string {
  const heads = messages.map((message) => oneLine(textOf(message), HEAD_CHARS)).filter(Boolean);
  return [heads[0] ?? "", ...heads.slice(1).slice(-MOST_HEADS)].join("\n");
}

const HEAD_CHARS = 60;
const MOST_HEADS = 8;

/** How a host hands messages over. */
export interface HandOver {
  ids: boolean;
  times: boolean;
  merges: boolean;
  /** Turns, the newest; null = all. */
  newest: number | null;
  /** Whether older turns come without what a model can do without. */
  trims: boolean;
}

const WHOLE: HandOver = { ids: true, times: true, merges: false, newest: null, trims: false };

/** Everything as it was stored, from a host that hands over so much. */
export const untouched = (host: HandOver): HandOver => ({
  ...host,
  ...{ merges: false, newest: null, trims: false },
});

/** How a host names and dates messages. */
interface Ways {
  oddTimes: boolean;
  repeatsIds: boolean;
  oddNames: boolean;
}

const ORDINARY_WAYS: Ways = { oddTimes: false, repeatsIds: false, oddNames: false };

/** As another one's but for its case. */
const alike = (place: string) => {
  const number = Number.parseInt(place, 16);
  return `${Math.floor(number / 2)}${number % 2 === 0 ? ":e" : ":E"}`;
};

/** The time of the message before, or one long before it, or its own; or of all of some. */
const oddly = (number: number) =>
  number % 16 >= 6
    ? number - (number % 16)
    : number % 5 === 1
      ? number - 1
      : number % 5 === 3
        ? -number
        : number;

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

/** As hosts hand over what is old: without thinking and details, and long results cut. */
export function trimmed(message: AgentMessage): AgentMessage {
  if (message.role === "assistant")
    return {
      ...message,
      content: message.content.filter(
        ({ type }) => type !== "thinking" && type !== "redacted_thinking",
      ),
    };
  if (message.role !== "toolResult") return message;
  const { details: _details, ...result } = message;
  return { ...result, content: result.content.map(capped) };
}

const capped = <Block extends ToolResultBlock>(block: Block): Block =>
  block.type === "text" && block.text.length > MOST_RESULT_CHARS
    ? { ...block, text: `${headOf(block.text, MOST_RESULT_CHARS)}\n[shortened by the host]` }
    : block;

/** As hosts without ids hand it over: what a model needs, and no more. */
function stripped(message: AgentMessage, times: boolean): AgentMessage {
  const { __openclaw: envelope, ...rest } = copyOf(message);
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
  return { ...result, content: result.content.map(capped) };
}
