// Keeps account of the exact names that a session works with.
import type { AgentMessage } from "../contract/message.ts";
import { blocksOf, stringOf } from "../messages/blocks.ts";
import { splitLedger } from "../messages/ledger-section.ts";
import type { TranscriptEntry } from "../transcript/entries.ts";
import { oneLine, textOf } from "../transcript/text.ts";
import { type Name, type NameKind, namesIn } from "./names.ts";

/** What kind of name it is: one that was said, a command that was run, an error that came back. */
export type LedgerKind = NameKind | "command" | "error";

/** One name, and what is known of it. */
export interface LedgerItem {
  /** Decides how it is listed. */
  readonly kind: LedgerKind;
  /** Exactly as it stood there; of a command or error its one line. */
  readonly name: string;
  /** Last known: "read", "edited", "ok", "failed: …". Absent: it was only named. */
  readonly state?: string;
  /** The entry that said so. Absent: nothing is known. */
  readonly stateEntryId?: string;
  /** The entry that last named it. */
  readonly entryId: string;
  /** How much it was talked about, fading with every entry; only compared. */
  readonly weight: number;
  /** Number of the entry that last named it. */
  readonly at: number;
}

/** What a call makes of an item when it succeeds. */
export interface Expected {
  /** Of the item. */
  readonly key: string;
  /** Its state then, as in `LedgerItem`. */
  readonly state: string;
}

/**
 * What a ledger knows after an entry. Plain data; a host keeps it with `lastEntryId` and
 * folds only what came since.
 */
export interface LedgerState {
  /** By name, commands and errors by kind and name; what was named last comes last. */
  readonly items: ReadonlyMap<string, LedgerItem>;
  /** By call id: the items a result will say something about, and what, when it succeeds. */
  readonly open: ReadonlyMap<string, readonly Expected[]>;
  /**
   * Names that came once, in one of many outputs or in a shape that says little: named when they
   * come again. Newest last.
   */
  readonly once: ReadonlySet<string>;
  /** Entries folded so far. */
  readonly entries: number;
  /** The entry to go on after; null = nothing was folded yet. */
  readonly lastEntryId: string | null;
}

/** The ledger of a session in which nothing happened yet. */
export const EMPTY_LEDGER: LedgerState = Object.freeze({
  items: new Map(),
  open: new Map(),
  once: new Set<string>(),
  entries: 0,
  lastEntryId: null,
});

/**
 * Who named it: a person's word counts most, one name among a thousand of a tool's output least.
 */
const WEIGHT = {
  person: 8,
  call: 6,
  summary: 4,
  model: 3,
  thought: 2,
  written: 2,
  output: 1,
} as const;
/** Entries after which a mention counts half: what a session is about stays for long. */
const HALF_LIFE = 1_000;
/**
 * The least important are forgotten above this, so that a session of any
 * length takes bounded memory.
 */
const MAX_ITEMS = 8_000;
/** New names that one output may bring: a listing must not push out what a session is about. */
const MAX_NEW_PER_OUTPUT = 40;
const MAX_ONCE = 8_000;
const MAX_LINE = 160;
/** Arguments that hold whole texts; what is named there is written, not asked for. */
const BULK = new Set([
  "content",
  "old_string",
  "new_string",
  "oldText",
  "newText",
  "oldString",
  "newString",
  "patch",
  "prompt",
]);

/**
 * The state after more entries of a branch, oldest first. Pure: the same entries give the same
 * state, in one piece or in many. Linear in the new entries plus the (bounded) state.
 */
export function foldLedger(
  state: LedgerState,
  entries: TranscriptEntry | readonly TranscriptEntry[],
): LedgerState {
  const fold = new Fold(state);
  for (const entry of [entries].flat()) fold.entry(entry);
  return fold.state();
}

/** How much an item counts after `entries` entries. */
export function ledgerScore(item: LedgerItem, entries: number): number {
  return item.weight * 0.5 ** ((entries - item.at) / HALF_LIFE);
}

class Fold {
  readonly #items: Map<string, LedgerItem>;
  readonly #open: Map<string, readonly Expected[]>;
  readonly #once: Set<string>;
  #entries: number;
  #lastEntryId: string | null;

  constructor(state: LedgerState) {
    this.#items = new Map(state.items);
    this.#open = new Map(state.open);
    this.#once = new Set(state.once);
    this.#entries = state.entries;
    this.#lastEntryId = state.lastEntryId;
  }

  state(): LedgerState {
    return {
      items: this.#items,
      open: this.#open,
      once: this.#once,
      entries: this.#entries,
      lastEntryId: this.#lastEntryId,
    };
  }

  entry(entry: TranscriptEntry): void {
    this.#entries++;
    this.#lastEntryId = entry.id;
    switch (entry.type) {
      case "reset":
        this.#items.clear();
        this.#open.clear();
        this.#once.clear();
        break;
      case "compaction":
        // Its ledger was made of the entries before it: those have been counted.
        this.#text(splitLedger(entry.summary).summary, WEIGHT.summary);
        break;
      case "branch_summary":
        this.#text(entry.summary, WEIGHT.summary);
        break;
      case "custom_message":
        this.#text(
          textOf({ role: "custom", customType: entry.customType, content: entry.content }),
          WEIGHT.output,
        );
        break;
      case "message":
        this.#message(entry.message);
    }
    if (this.#items.size > MAX_ITEMS) this.#forget();
  }

  #message(message: AgentMessage): void {
    switch (message.role) {
      case "user":
        this.#text(textOf(message), WEIGHT.person);
        return;
      case "assistant":
        this.#text(textOf(message), WEIGHT.model);
        for (const block of blocksOf(message.content)) {
          if (block.type === "thinking") this.#text(stringOf(block.thinking), WEIGHT.thought);
          if (block.type === "toolCall") this.#call(block);
        }
        return;
      case "toolResult": {
        const text = textOf(message);
        const failure = message.isError ? oneLine(text, MAX_LINE) : undefined;
        for (const { key, state } of this.#open.get(message.toolCallId) ?? [])
          this.#settle(key, failure === undefined ? state : `failed: ${oneLine(failure, 80)}`);
        this.#open.delete(message.toolCallId);
        if (failure) this.#name("error", `${message.toolName ?? "tool"}: ${failure}`, WEIGHT.call);
        this.#text(text, WEIGHT.output);
        return;
      }
      case "bashExecution": {
        const failed = message.exitCode ? `failed: exit code ${message.exitCode}` : "ok";
        this.#name(
          "command",
          oneLine(message.command, MAX_LINE),
          WEIGHT.person,
          message.cancelled ? "cancelled" : failed,
        );
        this.#text(message.command, WEIGHT.person);
        this.#text(message.output, WEIGHT.output);
        return;
      }
      default:
        this.#text(textOf(message), WEIGHT.output);
    }
  }

  #call(block: { [key: string]: unknown }): void {
    const args = block.arguments;
    if (typeof args !== "object" || args === null) return;
    const targets: Expected[] = [];
    for (const [key, value] of Object.entries(args)) {
      if (typeof value === "string" && isPathKey(key)) {
        const state = doing(stringOf(block.name));
        targets.push({ key: this.#name("path", value.trim(), WEIGHT.call), state });
      } else if (typeof value === "string" && /^(?:command|cmd)$/.test(key)) {
        const named = this.#name("command", oneLine(value, MAX_LINE), WEIGHT.call);
        targets.push({ key: named, state: hidesFailures(value) ? "ran" : "ok" });
        this.#text(value, WEIGHT.call);
      } else this.#text(textsOf(value), BULK.has(key) ? WEIGHT.written : WEIGHT.call);
    }
    if (targets.length > 0 && stringOf(block.id) !== "")
      this.#open.set(stringOf(block.id), targets);
  }

  #settle(key: string, state: string): void {
    const item = this.#items.get(key);
    if (item !== undefined)
      this.#items.set(key, { ...item, state, stateEntryId: this.#lastEntryId! });
  }

  #text(text: string, weight: number): void {
    let fresh = 0;
    for (const found of namesIn(text)) {
      const { kind, name } = found;
      if (!this.#items.has(name)) {
        const room = weight > WEIGHT.output || found.times > 1 || fresh < MAX_NEW_PER_OUTPUT;
        if (!this.#once.has(name) && !(room && countsAtOnce(found, weight))) {
          this.#remember(name);
          continue;
        }
        if (found.times === 1) fresh++;
        this.#once.delete(name);
      }
      this.#name(kind, name, weight);
    }
  }

  #remember(name: string): void {
    this.#once.add(name);
    if (this.#once.size <= MAX_ONCE) return;
    const [oldest] = this.#once;
    this.#once.delete(oldest!);
  }

  /** The item's key. */
  #name(kind: LedgerKind, name: string, weight: number, state?: string): string {
    const key = kind === "command" || kind === "error" ? `${kind} ${name}` : name;
    const before = this.#items.get(key);
    const carried = before === undefined ? 0 : ledgerScore(before, this.#entries);
    const last = state ?? before?.state;
    const stateEntryId = state === undefined ? before?.stateEntryId : this.#lastEntryId!;
    // Last in the map is last named: what is forgotten first stands first.
    this.#items.delete(key);
    this.#items.set(key, {
      kind: before?.kind ?? kind,
      name,
      ...(last !== undefined && { state: last }),
      ...(stateEntryId !== undefined && { stateEntryId }),
      entryId: this.#lastEntryId!,
      weight: carried + weight,
      at: this.#entries,
    });
    return key;
  }

  #forget(): void {
    const ranked = [...this.#items].sort(
      ([, a], [, b]) => ledgerScore(b, this.#entries) - ledgerScore(a, this.#entries),
    );
    for (const [key] of ranked.slice(Math.floor(MAX_ITEMS * 0.75))) this.#items.delete(key);
  }
}

/** What a person or a call names is meant, whatever it looks like. */
const countsAtOnce = ({ weak }: Name, weight: number) => !weak || weight >= WEIGHT.call;

/** The end of a pipe is all that its exit code tells of. */
const hidesFailures = (command: string) =>
  /(?<!\|)\|(?!\|)/.test(command) && !command.includes("pipefail");

const isPathKey = (key: string) =>
  /^(?:path|file_path|filePath|notebook_path|file|cwd|dir|directory)$/.test(key);

function doing(toolName: string): string {
  const name = toolName.toLowerCase().replace(/^mcp__.*?__/, "");
  return name === "write"
    ? "written"
    : name.includes("edit")
      ? "edited"
      : name === "read"
        ? "read"
        : `named in ${name}`;
}

/** Every text in an argument. */
function textsOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "";
  return Object.values(value).map(textsOf).join("\n");
}
