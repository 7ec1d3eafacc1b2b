// Keeps account of the exact names that a session works with.
import type { AgentMessage, UserMessage } from "../contract/message.ts";
import { type AnyBlock, blocksOf, stringOf } from "../messages/blocks.ts";
import { splitRecord } from "../messages/record-text.ts";
import { type SliceOptions, type Steps, stepsAtOnce, stepsInSlices } from "../slices.ts";
import type { TranscriptEntry } from "../transcript/entries.ts";
import { oneLine, textOf } from "../transcript/text.ts";
import { argumentsIn, failedAs, type Outcome, outcomeOf, shellCommand, textsOf } from "./calls.ts";
import { type Name, namesIn, TELLING_CHARS } from "./names.ts";
import { type Passage, passagesIn, withinBounds as passagesWithinBounds } from "./passages.ts";
import { withinBoundsSteps as pinsWithinBoundsSteps } from "./pin-room.ts";
import { type Pin, pinnedSteps } from "./pins.ts";
import {
  type Expected,
  keyOf,
  type LedgerItem,
  type LedgerKind,
  type LedgerState,
  ledgerScore,
} from "./state.ts";

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
const QUOTED: ReadonlySet<number> = new Set([WEIGHT.person, WEIGHT.model, WEIGHT.output]);
/**
 * The least important are forgotten above this, so that a session of any
 * length takes bounded memory.
 */
const MAX_ITEMS = 8_000;
/**
 * New names that one output may bring: a listing must not push out what a session is about. What it
 * says twice comes as well, but among so many it counts for little.
 */
const MAX_NEW_PER_OUTPUT = 40;
const CROWDING = 1.5;
const MAX_ONCE = 8_000;
const MAX_ERROR = 160;
/** Calls that nobody answered yet: of an older one no result says anything any more. */
const MAX_OPEN = 1_000;
/** Characters; no provider gives longer ones. */
const MAX_CALL_ID = 500;

/**
 * The state after more entries of a branch, oldest first. Pure: the same entries give the same
 * state, in one piece or in many. Linear in the new entries plus the (bounded) state.
 */
export function foldLedger(
  state: LedgerState,
  entries: TranscriptEntry | readonly TranscriptEntry[],
): LedgerState {
  return stepsAtOnce(foldSteps(state, [entries].flat()));
}

/** The same in slices, for a branch that takes long; rejects with the reason of an abort. */
export const foldLedgerInSlices = (
  state: LedgerState,
  entries: readonly TranscriptEntry[],
  options: SliceOptions = {},
): Promise<LedgerState> => stepsInSlices(foldSteps(state, entries), options);

function* foldSteps(state: LedgerState, entries: readonly TranscriptEntry[]): Steps<LedgerState> {
  const fold = new Fold(state);
  for (const entry of entries) {
    yield;
    yield* fold.entrySteps(entry);
  }
  return fold.state();
}

class Fold {
  readonly #items: Map<string, LedgerItem>;
  readonly #open: Map<string, readonly Expected[]>;
  readonly #once: Set<string>;
  #passages: Map<string, Passage>;
  #pins: Map<string, Pin>;
  #entries: number;
  #lastEntryId: string | null;

  constructor(state: LedgerState) {
    this.#items = new Map(state.items);
    this.#open = new Map(state.open);
    this.#once = new Set(state.once);
    this.#passages = new Map(state.passages);
    this.#pins = new Map(state.pins);
    this.#entries = state.entries;
    this.#lastEntryId = state.lastEntryId;
  }

  state(): LedgerState {
    return {
      items: this.#items,
      open: this.#open,
      once: this.#once,
      passages: this.#passages,
      pins: this.#pins,
      entries: this.#entries,
      lastEntryId: this.#lastEntryId,
    };
  }

  *entrySteps(entry: TranscriptEntry): Steps<void> {
    this.#entries++;
    this.#lastEntryId = entry.id;
    switch (entry.type) {
      case "reset":
        this.#items.clear();
        this.#open.clear();
        this.#once.clear();
        this.#passages.clear();
        this.#pins.clear();
        break;
      case "compaction":
        // Its ledger was made of the entries before it: those have been counted.
        this.#text(splitRecord(entry.summary).summary, WEIGHT.summary);
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
        yield* this.#messageSteps(entry.message);
    }
    if (this.#items.size > MAX_ITEMS) this.#forget();
    this.#passages = passagesWithinBounds(this.#passages, (name) => this.#scoreOf(name));
    this.#pins = yield* pinsWithinBoundsSteps(this.#pins);
  }

  *#messageSteps(message: AgentMessage): Steps<void> {
    switch (message.role) {
      case "user":
        this.#text(textOf(message), WEIGHT.person);
        yield;
        yield* this.#pinSteps(message);
        return;
      case "assistant":
        this.#text(textOf(message), WEIGHT.model);
        for (const block of blocksOf(message.content)) {
          yield;
          if (block.type === "thinking") this.#text(stringOf(block.thinking), WEIGHT.thought);
          if (block.type === "toolCall") yield* this.#callSteps(block);
        }
        return;
      case "toolResult": {
        const text = textOf(message);
        const outcome = outcomeOf(message);
        for (const expected of this.#open.get(message.toolCallId) ?? [])
          this.#settle(expected.key, stateAfter(expected, outcome));
        this.#open.delete(message.toolCallId);
        if (outcome.kind === "failed")
          this.#name("error", errorIn(message.toolName, outcome.why), WEIGHT.call);
        this.#text(text, WEIGHT.output);
        return;
      }
      case "bashExecution": {
        const { name, state } = shellCommand(message);
        this.#name("command", name, WEIGHT.person, state);
        this.#text(message.command, WEIGHT.person);
        this.#text(message.output, WEIGHT.output);
        return;
      }
      default:
        this.#text(textOf(message), WEIGHT.output);
    }
  }

  *#callSteps(block: AnyBlock): Steps<void> {
    const whole = textsOf(block.arguments, TELLING_CHARS);
    yield;
    this.#quote(whole, namesIn(whole));
    const targets: Expected[] = [];
    for (const argument of argumentsIn(block)) {
      yield;
      if (this.#items.size > 2 * MAX_ITEMS) this.#forget();
      if (argument.kind === "asked") this.#text(argument.text, WEIGHT.call);
      else if (argument.kind === "named")
        this.#name(argument.name.kind, argument.name.name, WEIGHT.call);
      else if (argument.kind === "written") this.#text(argument.text, WEIGHT.written);
      else {
        const key = this.#name(argument.kind, argument.name, WEIGHT.call);
        if (argument.kind === "command") {
          this.#text(argument.text, WEIGHT.call);
          targets.push({ key, done: argument.done });
        } else if (argument.done !== undefined)
          targets.push({ key, done: argument.done, failed: argument.failed });
      }
    }
    const id = stringOf(block.id);
    if (targets.length > 0 && id !== "" && id.length <= MAX_CALL_ID) this.#expect(id, targets);
  }

  #expect(callId: string, targets: readonly Expected[]): void {
    this.#open.delete(callId);
    this.#open.set(callId, targets);
    const [oldest] = this.#open.keys();
    if (this.#open.size > MAX_OPEN) this.#open.delete(oldest!);
  }

  #settle(key: string, state: string | undefined): void {
    const item = this.#items.get(key);
    // What was changed stays changed when it is read.
    const isLess = state === "read" && (item?.state === "edited" || item?.state === "written");
    if (item !== undefined && state !== undefined && !isLess)
      this.#items.set(key, { ...item, state, stateEntryId: this.#lastEntryId! });
  }

  #text(text: string, weight: number): void {
    const names = namesIn(text);
    // The arguments of a call are quoted together.
    if (QUOTED.has(weight)) this.#quote(text, names);
    const isOutput = weight === WEIGHT.output;
    const fresh = new Set(names.filter((found) => this.#isNew(found, weight)));
    const newWeight = isOutput ? weight * weightAmong(fresh.size) : weight;
    let single = 0;
    for (const found of names) {
      const { kind, name, places } = found;
      const isKnown = this.#items.has(name) || this.#once.delete(name);
      if (!fresh.has(found)) {
        if (isKnown) this.#name(kind, name, weight);
        else this.#remember(name);
      } else if (isKnown || !isOutput || places.length > 1 || ++single <= MAX_NEW_PER_OUTPUT)
        this.#name(kind, name, newWeight);
      else this.#remember(name);
    }
  }

  /** It counts at once, or comes again, and so far only one among many said it. */
  #isNew(found: Name, weight: number): boolean {
    const known = this.#items.get(found.name);
    if (known !== undefined) return known.weight < WEIGHT.output;
    return this.#once.has(found.name) || countsAtOnce(found, weight);
  }

  #quote(text: string, names: readonly Name[]): void {
    for (const passage of passagesIn(text, names, this.#lastEntryId!)) {
      this.#passages.delete(passage.text);
      this.#passages.set(passage.text, passage);
    }
  }

  *#pinSteps(message: UserMessage): Steps<void> {
    const where = { entryId: this.#lastEntryId!, at: this.#entries };
    for (const pin of yield* pinnedSteps(message, where)) {
      this.#pins.delete(pin.text);
      this.#pins.set(pin.text, pin);
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
    const key = keyOf({ kind, name });
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

  #scoreOf(name: string): number {
    const item = this.#items.get(name);
    return item === undefined ? 0 : ledgerScore(item, this.#entries);
  }

  #forget(): void {
    const ranked = [...this.#items]
      .map(([key, item]) => ({ key, score: ledgerScore(item, this.#entries) }))
      .sort((a, b) => b.score - a.score);
    for (const { key } of ranked.slice(Math.floor(MAX_ITEMS * 0.75))) this.#items.delete(key);
  }
}

const errorIn = (toolName: string, why: string) =>
  oneLine(`${toolName || "tool"}: ${why}`, MAX_ERROR);

/** Of a command that may have failed only that it ran; of a file then nothing. */
function stateAfter({ done, failed }: Expected, outcome: Outcome): string | undefined {
  if (outcome.kind === "done") return done;
  if (outcome.kind === "failed") return failed ?? failedAs(outcome.why);
  return failed === undefined ? "ran" : undefined;
}

/** What one of so many new names of an output counts. */
const weightAmong = (count: number) =>
  Math.min(1, (MAX_NEW_PER_OUTPUT / Math.max(1, count)) ** CROWDING);

/** What a person or a call names is meant, whatever it looks like. */
const countsAtOnce = ({ weak }: Name, weight: number) => !weak || weight >= WEIGHT.call;
