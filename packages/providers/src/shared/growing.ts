// Writes a history that grows, and goes on where it ended the last time.
import type { AgentMessage } from "@clew/plugin-sdk/core";

/** How a history is written. */
export interface GrowingHistory<State> {
  /** Oldest first. */
  messages: readonly AgentMessage[];
  /** Everything else the text depends on, compared one by one. */
  shape: readonly unknown[];
  /** What is carried from one message to the next, before the first. */
  before: State;
  /**
   * The text of some messages, behind those that left `state`; blank when they say nothing. Must
   * depend on nothing but its arguments and `shape`.
   */
  write(messages: readonly AgentMessage[], state: State): { text: string; state: State };
  /** The text of what is still carried at the end. */
  end(state: State): string;
}

interface Written {
  shape: readonly unknown[];
  messages: readonly AgentMessage[];
  text: string;
  state: unknown;
}

const written = new WeakMap<AgentMessage, Written>();

/**
 * The pieces of a history, joined by commas. Of a history that begins with the frozen messages of
 * the last one only the rest is written; the text is the same as if all of it were.
 */
export function writeGrowing<State>(history: GrowingHistory<State>): string {
  const { messages, shape, write, end } = history;
  const first = messages[0];
  const known = first === undefined ? undefined : written.get(first);
  const goesOn = known !== undefined && begins(known, history);
  const done = goesOn ? known.messages.length : 0;
  const state = goesOn ? (known.state as State) : history.before;
  const fresh = done === 0 ? messages : messages.slice(done);
  const more = fresh.length === 0 ? { text: "", state } : write(fresh, state);
  const text = joined(goesOn ? known.text : "", more.text);
  if (first !== undefined && fresh.length > 0 && fresh.every(isFixed))
    written.set(first, { shape, messages: messages.slice(), text, state: more.state });
  return joined(text, end(more.state));
}

function begins({ shape, messages }: Written, history: GrowingHistory<unknown>): boolean {
  if (messages.length > history.messages.length) return false;
  if (!shape.every((part, at) => part === history.shape[at])) return false;
  return messages.every((message, at) => message === history.messages[at]);
}

/** What is frozen says the same next time. */
const isFixed = (message: AgentMessage): boolean =>
  Object.isFrozen(message) && (!("content" in message) || Object.isFrozen(message.content));

/** Two lists of pieces, of which either may be blank; neither is copied. */
export const joined = (left: string, right: string): string =>
  left === "" || right === "" ? left + right : `${left},${right}`;
