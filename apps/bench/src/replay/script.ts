// Reads from a recorded session its calls and what each could go on to need.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import {
  planRecordedTurns,
  type RecordedTurn,
} from "../../../gateway/src/replay/recorded-turns.ts";
import { namesUsed, stands } from "../shared/evidence.ts";
import type { Recording } from "../shared/recordings.ts";
import { textsOf } from "./texts.ts";

/** A session to be replayed. */
export interface ReplaySource extends Recording {
  /** What a person said must hold for the rest of the session, in their words. */
  constraints: readonly string[];
}

/** One recorded model call. Names are places in `names` of the script. */
export interface ScriptCall {
  /** Messages of the recording before it. */
  history: number;
  /** The newest message of a person before it; −1 = none. */
  request: number;
  /** Names in the tool calls of its reply that stood in the history before. */
  used: readonly number[];
  /** The same for it and the 59 calls after it, as far as this history holds them. Each once. */
  needed: readonly number[];
}

export interface Script {
  source: ReplaySource;
  turns: readonly RecordedTurn[];
  /** In the order a replay stores them. */
  messages: readonly AgentMessage[];
  calls: readonly ScriptCall[];
  /** Every name that any call uses. */
  names: readonly string[];
  /** What must hold for the rest of the session, and the message that says so. */
  constraints: readonly { text: string; saidIn: number }[];
}

/** Calls within which a name counts as needed. */
const HORIZON = 60;

/** Pure. */
export function readScript(source: ReplaySource): Script {
  const turns = planRecordedTurns(source.branch);
  const { messages, raw } = inOrder(turns);
  const names = [...new Set(raw.flatMap(({ used }) => used))];
  const places = new Map(names.map((name, index) => [name, index]));
  const firstIn = firstMessages(messages, names);
  const used = raw.map((call) => [...new Set(call.used.map((name) => places.get(name)!))]);
  const calls = raw.map(({ history, request }, at): ScriptCall => {
    const isKnown = (name: number) => firstIn[name]! < history;
    const ahead = new Set(used.slice(at, at + HORIZON).flat());
    return {
      history,
      request,
      used: used[at]!.filter(isKnown),
      needed: [...ahead].filter(isKnown),
    };
  });
  const constraints = source.constraints.map((text) => ({
    text,
    saidIn: messages.findIndex((message) => textsOf(message).some((one) => one.includes(text))),
  }));
  return { source, turns, messages, calls, names, constraints };
}

interface RawCall {
  history: number;
  request: number;
  used: string[];
}

/** Only turns that a person began are run; what else there is happens between them. */
function inOrder(turns: readonly RecordedTurn[]): { messages: AgentMessage[]; raw: RawCall[] } {
  const messages: AgentMessage[] = [];
  const raw: RawCall[] = [];
  let request = -1;
  for (const { prompt, steps, after } of turns) {
    if (prompt !== null) request = messages.push(prompt) - 1;
    for (const { before, reply, results } of steps) {
      messages.push(...before);
      if (prompt !== null) raw.push({ history: messages.length, request, used: namesUsed(reply) });
      messages.push(reply, ...results);
    }
    messages.push(...after);
  }
  return { messages, raw };
}

/** The message in which each name stands first. */
function firstMessages(messages: readonly AgentMessage[], names: readonly string[]): number[] {
  const texts = messages.map((message) => textsOf(message).join("\n"));
  const whole = texts.join("\n");
  const ends: number[] = [];
  for (const text of texts) ends.push((ends.at(-1) ?? 0) + text.length + 1);
  return names.map((name) => {
    let at = whole.indexOf(name);
    while (at >= 0 && !stands(whole.slice(Math.max(0, at - 1), at + name.length + 1), name))
      at = whole.indexOf(name, at + 1);
    return at < 0 ? messages.length : messageAt(ends, at);
  });
}

function messageAt(ends: readonly number[], position: number): number {
  let low = 0;
  for (let high = ends.length - 1; low < high; ) {
    const middle = (low + high) >> 1;
    if (ends[middle]! <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}
