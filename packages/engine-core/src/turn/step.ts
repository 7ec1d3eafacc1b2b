// What a task answers to a fact.
import type { Ask, Effect, Tell } from "./effects.ts";
import type { Answer } from "./facts.ts";
import type { LoopFailure, TaskName, Turn } from "./turn.ts";

export interface Step {
  readonly turn: Turn;
  /** In order; only the last one may be an `Ask`. */
  readonly effects: readonly Effect[];
  /** The task is finished: the next one begins. */
  readonly done: boolean;
}

/** One part of a turn. Both are pure and total. */
export interface Task {
  begin(turn: Turn): Step;
  take(turn: Turn, answer: Answer): Step;
}

/** Waits for the answer to `what`. */
export const ask = (turn: Turn, what: Ask, ...first: Tell[]): Step => ({
  turn,
  effects: [...first, what],
  done: false,
});

/** The task is finished. */
export const done = (turn: Turn, ...effects: Tell[]): Step => ({ turn, effects, done: true });

/** The task is finished, and these come next, before whatever came after it. */
export const doneThen = (turn: Turn, tasks: readonly TaskName[], ...effects: Tell[]): Step =>
  done({ ...turn, todo: [turn.todo[0]!, ...tasks, ...turn.todo.slice(1)] }, ...effects);

/** The task is finished, and only these are left to do. */
export const doneOnly = (turn: Turn, tasks: readonly TaskName[], ...effects: Tell[]): Step =>
  done({ ...turn, todo: [turn.todo[0]!, ...tasks] }, ...effects);

/** A model call without a reply: whatever can be done about it comes next. */
export const failed = (turn: Turn, failure: LoopFailure, ...effects: Tell[]): Step =>
  doneOnly({ ...turn, failure }, ["recover"], ...effects);

export function failure(
  kind: "aborted" | "invalid_response" | "overflow",
  message: string,
): LoopFailure {
  const stopReason = kind === "aborted" ? "aborted" : "error";
  return {
    error: { kind, message },
    partial: { role: "assistant", content: [], stopReason, errorMessage: message },
  };
}
