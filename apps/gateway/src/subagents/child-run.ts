// Runs one child session until it is over, those that it started included.
import type { TurnResult } from "@clew/engine-core";
import { isAbort, type MessageProvenance, type UserMessage } from "@clew/plugin-sdk/core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { saidBy } from "../sessions/mark-other-session.ts";
import { EndedEarly } from "../stopping.ts";
import { type Child, pluginParent } from "./child.ts";
import { type Ending, endingOf, givenUp, type Stop, whyEnded } from "./ending.ts";

/** One turn that no person asked for. */
export interface ChildTurn {
  /** Canonical. */
  key: string;
  signal?: AbortSignal | undefined;
  /**
   * What is said, asked for when it is the turn's turn; undefined: nothing, and there is no turn.
   * Throws to refuse it.
   */
  said(branch: readonly TranscriptEntry[]): Pick<UserMessage, "content" | "provenance"> | undefined;
  /** It is stored. */
  onAccepted?: (() => void) | undefined;
}

/** A child that runs here. */
export interface ChildRun {
  readonly child: Child;
  /** Ends it, and those below it. */
  stop(why: Stop): void;
  /** Resolves when it is over, also when it has to be given up. Never rejects. */
  readonly ended: Promise<Child>;
}

/** The children of one that runs. */
export interface Family {
  running(): readonly ChildRun[];
  hasUntold(): boolean;
  tell(signal: AbortSignal): Promise<TurnResult | undefined>;
  cancel(): void;
}

/** What is told to stop has this long, ms. */
const STOP_GRACE_MS = 10_000;

export function runChild(request: {
  child: Child;
  task: string;
  family: Family;
  isStopping(): boolean;
  converse(turn: ChildTurn): Promise<TurnResult | undefined>;
  /** Called once. */
  finish(ending: Ending): Promise<Child>;
}): ChildRun {
  const { child, family, isStopping } = request;
  const abort = new AbortController();
  const { promise: ended, resolve } = Promise.withResolvers<Child>();
  let stopped: Stop | undefined;
  let giveUp: NodeJS.Timeout | undefined;
  let isOver = false;
  const over = (ending: Ending) => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    clearTimeout(giveUp);
    family.cancel();
    // It ends after its own children have.
    const below = Promise.all(family.running().map((run) => run.ended));
    resolve(below.then(() => request.finish(ending)));
  };
  const stop = (why: Stop) => {
    if (isOver) return;
    stopped ??= why;
    giveUp ??= setTimeout(() => over(givenUp(child, stopped ?? why)), STOP_GRACE_MS);
    family.cancel();
    abort.abort(new EndedEarly(whyEnded(why, child)));
  };
  const timer = setTimeout(() => stop("timeout"), child.boundMs);
  const whyStopped = () => stopped ?? (isStopping() ? "stopping" : undefined);
  work(request, abort.signal).then(
    (result) => over(endingOf(child, { result }, whyStopped())),
    (error: unknown) => {
      const cancelled = isAbort(error) ? "cancelled" : undefined;
      over(endingOf(child, { error }, whyStopped() ?? cancelled));
    },
  );
  return { child, stop, ended };
}

/** A plugin outside any request is no session, which could be answered. */
function sayerOf({ parent, plugin }: Child): MessageProvenance {
  if (plugin === null) return saidBy(parent.key, "sessions_spawn");
  const name = pluginParent(plugin.id);
  return saidBy(parent.key === name ? undefined : parent.key, name);
}

/** Its task, and then what its own children answer. */
async function work(
  { child, task, family, converse }: Parameters<typeof runChild>[0],
  signal: AbortSignal,
): Promise<TurnResult> {
  const provenance = sayerOf(child);
  const said = () => ({ content: task, provenance });
  let last = (await converse({ key: child.key, signal, said }))!;
  while (last.outcome === "completed") {
    const running = family.running();
    if (running.length === 0 && !family.hasUntold()) break;
    await Promise.all(running.map(({ ended }) => ended));
    signal.throwIfAborted();
    const told = await family.tell(signal);
    if (told === undefined) break;
    last = told;
  }
  return last;
}
