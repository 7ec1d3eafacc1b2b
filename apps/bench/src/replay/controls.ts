// Three simple ways to choose what is sent, beside which an engine is judged.
import { atomicGroups, textOf } from "@clew/plugin-sdk/transcript";
import { namesInText } from "../shared/evidence.ts";
import { type Frame, type FrameCall, type SentRequest, tokensOf } from "./frame.ts";
import type { Recall, Recalled } from "./recall.ts";
import type { Shown } from "./shown.ts";

/** A control's choice for one call, and what its reader could ask for. */
export interface ControlRequest extends SentRequest {
  recall: Recall | undefined;
}

/** Chooses call by call, in order. */
export type Control = (frame: Frame) => Iterable<ControlRequest>;

/** Everything, whether it fits or not. */
export const passThrough: Control = function* (frame) {
  for (const [call, { whole }] of callsOf(frame)) yield { call, shown: whole, recall: undefined };
};

/** The newest messages: when they fill the budget, all but half a budget of them goes. */
export const rawTail: Control = function* (frame) {
  let start = 0;
  for (const [call, { full, fixedTokens }] of callsOf(frame)) {
    const room = frame.promptBudget - fixedTokens;
    if (tokensOf(full.slice(start)) > room) start = cutTo(full, frame.promptBudget / 2);
    yield { call, shown: full.slice(start), recall: undefined };
  }
};

/**
 * A raw tail behind one pinned message, which changes only at a cut: the first and the latest
 * request, and the names of what was cut off by the newest message that holds them. Every message
 * can be read by its number. Reads names as the evaluator does: nobody can be better at that.
 */
export const yardstick: Control = function* (frame) {
  const { table, script, promptBudget } = frame;
  const read = namesOnce();
  const recall: Recall = {
    find: async (name, { named, history }) => {
      let place = named.has(name) ? history - 1 : -1;
      while (place >= 0 && !table.recorded(place).named.includes(name)) place--;
      return recalled(place < 0 ? [] : table.recorded(place).texts);
    },
    read: async (place) => {
      const { texts } = table.recorded(place);
      return recalled(Buffer.byteLength(texts.join("")) <= 2 * PAGE_BYTES ? texts : []);
    },
  };
  let start = 0;
  let head: Shown[] = [];
  for (const [call, { full, fixedTokens }] of callsOf(frame)) {
    const { history } = script.calls[call]!;
    if (tokensOf([...head, ...full.slice(start)]) > promptBudget - fixedTokens) {
      start = cutTo(full, promptBudget / 2 - frame.ledgerRoom);
      head = [headWithin(frame, { full, start, read, history })];
    }
    yield { call, shown: [...head, ...full.slice(start)], recall };
  }
};

const recalled = (texts: readonly string[]): Recalled => ({ texts, answer: texts.join("\n") });

function* callsOf({ calls }: Frame): Generator<[number, FrameCall]> {
  for (const [call, one] of calls.entries()) if (one !== undefined) yield [call, one];
}

/** Where the newest whole exchanges begin that `tokens` hold; the newest one always stays. */
function cutTo(full: readonly Shown[], tokens: number): number {
  const groups = atomicGroups(full.map(({ message }) => message));
  let left = tokens;
  let start = full.length;
  for (const group of groups.toReversed()) {
    const size = tokensOf(full.slice(group.start, group.end));
    if (size > left && start < full.length) break;
    left -= size;
    start = group.start;
  }
  return start;
}

const MAX_REQUEST_CHARS = 2000;
/** What one call for a message gives back at most. */
const PAGE_BYTES = 32_768;

/** The names of a message, looked for once. */
function namesOnce(): (shown: Shown) => ReadonlySet<string> {
  const known = new WeakMap<Shown, ReadonlySet<string>>();
  return (shown) => {
    const names = known.get(shown) ?? new Set(shown.texts.flatMap(namesInText));
    known.set(shown, names);
    return names;
  };
}

interface HeadInput {
  full: readonly Shown[];
  /** Where the raw tail begins. */
  start: number;
  read: (shown: Shown) => ReadonlySet<string>;
}

/** More characters of names than these many tokens can hold. */
const MOST_CHARS_PER_TOKEN = 5;

/** The pinned message, with as many names as the room of a ledger holds. */
function headWithin(
  { table, ledgerRoom }: Frame,
  { history, ...input }: HeadInput & { history: number },
): Shown {
  const headOf = (room: number) =>
    table.of({ role: "user", content: headText(input, room) }, history);
  const most = headOf(0).tokens + ledgerRoom;
  let room = ledgerRoom * MOST_CHARS_PER_TOKEN;
  let head = headOf(room);
  while (head.tokens > most) {
    room *= Math.min(0.98, ledgerRoom / (head.tokens - most + ledgerRoom));
    head = headOf(room);
  }
  return head;
}

/** `room`: characters of the list of names. */
function headText({ full, start, read }: HeadInput, room: number): string {
  const requests = full
    .filter(({ message }) => message.role === "user")
    .map(({ message }) => textOf(message).slice(0, MAX_REQUEST_CHARS));
  const kept = new Set(full.slice(start).flatMap((shown) => [...read(shown)]));
  const lines: string[] = [];
  let left = room;
  for (let at = start - 1; at >= 0 && left > 0; at--) {
    const fresh = [...read(full[at]!)].filter((name) => !kept.has(name));
    if (fresh.length === 0) continue;
    for (const name of fresh) kept.add(name);
    const line = `#${at}: ${fresh.join(" ")}`.slice(0, left);
    lines.push(line);
    left -= line.length + 1;
  }
  const [first = ""] = requests;
  const latest = requests.at(-1) ?? "";
  return ["First request:", first, "Latest request:", latest, "Names:", ...lines].join("\n");
}
