// Decides how a session's context enters Codex.
import type { Binding, ThreadKey } from "./binding.ts";

/** A message of the view, by the ids it stands for; none: the engine made it. */
export interface ViewedMessage {
  ids: readonly string[];
}

export interface ProjectionFacts {
  /** Null: there is no thread of the session. */
  binding: Binding | null;
  sessionId: string;
  /** Null: the engine does not want a thread to be used twice. */
  key: ThreadKey | null;
  /** Hash of the engine's addition. */
  addition: string;
  /** What the engine chose, without the turn. */
  history: readonly ViewedMessage[];
  /** Whether messages can be added to a thread. */
  canAdd: boolean;
}

export type ProjectionPlan =
  /** One for this turn alone. */
  | { kind: "per-turn"; reason: string }
  /** `replaces`: the one that is not used any more; null = there was none. */
  | { kind: "new"; reason: string; replaces: string | null }
  | {
      kind: "continue";
      threadId: string;
      reason: string;
      /** Turn that did not come to its end, and has to go first; null = none. */
      revert: string | null;
      /** Of the view, the newest messages that the thread does not hold. */
      missing: number;
      /** The engine's addition is another one. */
      tellsAddition: boolean;
    };

/** Pure. Never continues a thread of which it is not known what it holds. */
export function planProjection(facts: ProjectionFacts): ProjectionPlan {
  const { binding, key, sessionId, history, addition, canAdd } = facts;
  if (key === null)
    return { kind: "per-turn", reason: "the engine hands its context over at each turn" };
  if (binding === null)
    return { kind: "new", reason: "the session has no thread yet", replaces: null };
  const another = (reason: string): ProjectionPlan => ({
    ...{ kind: "new", reason, replaces: binding.threadId },
  });
  if (binding.sessionId !== sessionId) return another("the session began anew");
  const changed = changedPart(binding.key, key);
  if (changed !== undefined) return another(CHANGED[changed]);
  const { state } = binding;
  switch (state.name) {
    case "stale":
      return another(state.why);
    case "opening":
      return another("no model had answered in the last one");
    case "resuming":
      return another("the last one could not be taken up again");
    case "adding":
      return another("what was added to the last one is not known");
    case "running":
      if (state.turnId === null)
        return another("the turn that was killed in the last one is not known");
  }
  const missing = missingOf(binding, history);
  if (missing === undefined) return another("the last one holds what the view leaves out");
  const tellsAddition = binding.addition !== addition;
  if (!canAdd && (missing > 0 || tellsAddition))
    return another("nothing can be added to the last one");
  const revert = "turnId" in state ? state.turnId : null;
  return {
    kind: "continue",
    ...{ threadId: binding.threadId, revert, missing, tellsAddition },
    reason: revert === null ? "the engine's epoch goes on" : "without the turn that had no end",
  };
}

/**
 * How many follow the newest one that the thread holds. Undefined: it is not there, so that the
 * thread holds what is not to be shown any more, as after a turn was undone.
 */
function missingOf(
  { through, withIt }: Pick<Binding, "through" | "withIt">,
  history: readonly ViewedMessage[],
): number | undefined {
  if (through === null) return history.length;
  if (!history.some(({ ids }) => ids.includes(through))) return undefined;
  const held = new Set([...withIt, through]);
  return history.length - 1 - history.findLastIndex(({ ids }) => ids.some((id) => held.has(id)));
}

const changedPart = (before: ThreadKey, now: ThreadKey): keyof ThreadKey | undefined =>
  (Object.keys(CHANGED) as (keyof ThreadKey)[]).find((part) => before[part] !== now[part]);

const CHANGED: Readonly<Record<keyof ThreadKey, string>> = {
  engine: "another engine chose the context",
  epoch: "the engine began another epoch",
  fingerprint: "the engine's view is made of something else",
  instructions: "the system prompt is another one",
  tools: "the tools are others",
  config: "the settings of Codex are others",
  cwd: "the workspace is another one",
  provider: "the models' server is another one",
  effort: "the model shall think otherwise",
};
