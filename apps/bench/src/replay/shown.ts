// Looks each message of a request up by size, names and quotations.
import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { countMessage, type ExactCounter } from "@clew/plugin-sdk/tokens";
import { pathsInLedger } from "@clew/plugin-sdk/transcript";
import { stands } from "../shared/evidence.ts";
import type { Script } from "./script.ts";
import { textsOf } from "./texts.ts";
import { verbatimIn } from "./verbatim.ts";

/** One message as it was sent; the same object for the same content and identity. */
export interface Shown {
  message: AgentMessage;
  /** Which stored message it is; undefined = the host or the engine made it. */
  id: string | undefined;
  /** Equal where a provider is sent the same. */
  wire: number;
  /** Exact tokens, o200k_base. */
  tokens: number;
  texts: readonly string[];
  /** Names of the script that stand in it, also as members of a list under their folder. */
  named: readonly number[];
  /**
   * Names that stand in 120 characters or more of what was said before it, word for word, or in a
   * shorter text that is shown whole.
   */
  grounded: readonly number[];
}

/** Looks at each message once, however often it is sent. */
export interface ShownTable {
  /** `history`: messages of the recording before the call that sends it. */
  of(message: AgentMessage, history: number): Shown;
  /** The recorded message at this place. */
  recorded(index: number): Shown;
  /** Exact tokens of a text. */
  count(text: string): number;
}

interface TextFacts {
  named: readonly number[];
  grounded: readonly number[];
}

export function createShownTable(script: Script, counter: ExactCounter): ShownTable {
  const byObject = new WeakMap<AgentMessage, Shown>();
  const byContent = new Map<string, Shown>();
  const wires = new Map<string, number>();
  const factsOf = createTextFacts(script);
  const of = (message: AgentMessage, history: number): Shown => {
    const known = byObject.get(message);
    if (known !== undefined) return known;
    const content = contentOf(message);
    const key = `${messageId(message)} ${content}`;
    const wire = wires.get(content) ?? wires.size;
    wires.set(content, wire);
    const shown = byContent.get(key) ?? look(message, history, wire);
    byContent.set(key, shown);
    byObject.set(message, shown);
    return shown;
  };
  const look = (message: AgentMessage, history: number, wire: number): Shown => {
    const texts = textsOf(message);
    const facts = texts.map((text) => factsOf(text, history));
    return {
      message,
      id: messageId(message),
      wire,
      tokens: countMessage(message, counter),
      texts,
      named: union(facts.map(({ named }) => named)),
      grounded: union(facts.map(({ grounded }) => grounded)),
    };
  };
  return {
    of,
    recorded: (index) => of(script.messages[index]!, index),
    count: (text) => counter.count(text),
  };
}

const union = (lists: readonly (readonly number[])[]) => [...new Set(lists.flat())];

/** What a provider is sent of a message: not what the host wrote on it, when, or what it cost. */
function contentOf(message: AgentMessage): string {
  const {
    __openclaw: _host,
    timestamp: _time,
    usage: _cost,
    ...sent
  } = {
    usage: undefined,
    ...message,
  };
  return JSON.stringify(sent);
}

function createTextFacts(script: Script): (text: string, history: number) => TextFacts {
  const known = new Map<string, TextFacts>();
  const perMessage = script.messages.map(textsOf);
  const firstSaid = new Map<string, number>();
  for (const [index, texts] of perMessage.entries())
    for (const text of texts) if (!firstSaid.has(text)) firstSaid.set(text, index);
  const ends: number[] = [];
  const joined = perMessage.map((texts) => texts.join("\0"));
  for (const text of joined) ends.push((ends.at(-1) ?? 0) + text.length + 1);
  const corpus = joined.join("\0");

  const look = (text: string, history: number): TextFacts => {
    const present = placesOf(script.names, text);
    const listed = namedInLists(script.names, text);
    const named = union([[...present.keys()], listed]);
    // The very text of a message is its own quotation.
    if ((firstSaid.get(text) ?? Number.POSITIVE_INFINITY) < history)
      return { named, grounded: [...present.keys()] };
    const isQuoted = verbatimIn(text, corpus.slice(0, ends[history - 1] ?? 0));
    const grounded = [...present].filter(([name, at]) =>
      at.some((start) => isQuoted(start, start + script.names[name]!.length)),
    );
    return { named, grounded: grounded.map(([name]) => name) };
  };
  return (text, history) => {
    const before = known.get(text);
    if (before !== undefined) return before;
    const facts = look(text, history);
    known.set(text, facts);
    return facts;
  };
}

/** Where each name stands as a whole. */
function placesOf(names: readonly string[], text: string): Map<number, number[]> {
  const places = new Map<number, number[]>();
  for (const [index, name] of names.entries()) {
    const found: number[] = [];
    for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1))
      if (stands(text.slice(Math.max(0, at - 1), at + name.length + 1), name)) found.push(at);
    if (found.length > 0) places.set(index, found);
  }
  return places;
}

/** Names in lines like "src/: a.ts b.ts", which name their folder once. */
function namedInLists(names: readonly string[], text: string): number[] {
  const paths = pathsInLedger(text);
  if (paths.length === 0) return [];
  const lines = paths.join("\n");
  return names.flatMap((name, index) => (stands(lines, name) ? [index] : []));
}
