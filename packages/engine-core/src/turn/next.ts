// Decides what follows from what happened in a turn.
import type { Effect } from "./effects.ts";
import type { Answer, Fact, Occurrence } from "./facts.ts";
import { doneOnly, type Step, type Task } from "./step.ts";
import { admit } from "./tasks/admit.ts";
import { assemble } from "./tasks/assemble.ts";
import { assembleAgain } from "./tasks/assemble-again.ts";
import { autoCompact } from "./tasks/auto-compact.ts";
import { bootstrap } from "./tasks/bootstrap.ts";
import { call } from "./tasks/call.ts";
import { compact } from "./tasks/compact.ts";
import { compose } from "./tasks/compose.ts";
import { deliver, deliverInLoop } from "./tasks/deliver.ts";
import { execute } from "./tasks/execute.ts";
import { firstSight } from "./tasks/first-sight.ts";
import { hooks } from "./tasks/hooks.ts";
import { listen } from "./tasks/listen.ts";
import { maintain } from "./tasks/maintain.ts";
import { read } from "./tasks/read.ts";
import { recover } from "./tasks/recover.ts";
import { refuse } from "./tasks/refuse.ts";
import { requireDelivery } from "./tasks/require-delivery.ts";
import { settle } from "./tasks/settle.ts";
import { tools } from "./tasks/tools.ts";
import { weigh } from "./tasks/weigh.ts";
import type { TaskName, Turn } from "./turn.ts";
import type { TurnError } from "./turn-request.ts";

const TASKS: Readonly<Record<TaskName, Task>> = {
  settle,
  "first-sight": firstSight,
  deliver,
  "deliver-in-loop": deliverInLoop,
  "require-delivery": requireDelivery,
  bootstrap,
  "maintain-bootstrap": maintain("bootstrap"),
  admit,
  read,
  assemble,
  hooks,
  "assemble-again": assembleAgain,
  compose,
  call,
  execute,
  tools,
  listen,
  "auto-compact": autoCompact,
  recover,
  compact,
  weigh,
  refuse,
  "maintain-turn": maintain("turn"),
};

/** The first things to do. */
export function beginTurn(turn: Turn): { turn: Turn; effects: readonly Effect[] } {
  return followUp(beginTask(turn));
}

/** No effects: the turn waits for another answer, or is over when nothing is left to do. */
export function next(turn: Turn, fact: Fact): { turn: Turn; effects: readonly Effect[] } {
  switch (fact.type) {
    case "opened":
    case "engine-called":
    case "engine-set-aside":
    case "rewritten":
    case "closed":
      return { turn: note(turn, fact), effects: [] };
    case "aborted":
    case "broke":
      return followUp(breakOff(turn, fact));
    default:
      return followUp(takeAnswer(turn, fact));
  }
}

function takeAnswer(turn: Turn, answer: Answer): Step {
  const task = turn.todo[0];
  return task === undefined ? { turn, effects: [], done: false } : TASKS[task].take(turn, answer);
}

function beginTask(turn: Turn): Step {
  const task = turn.todo[0];
  return task === undefined ? { turn, effects: [], done: false } : TASKS[task].begin(turn);
}

/** Goes from finished task to finished task until one waits, or none is left. */
function followUp(step: Step): { turn: Turn; effects: readonly Effect[] } {
  const effects: Effect[] = [...step.effects];
  let current = step;
  while (current.done) {
    current = beginTask({ ...current.turn, todo: current.turn.todo.slice(1) });
    effects.push(...current.effects);
  }
  return { turn: current.turn, effects };
}

/** What happens beside the answers changes what the turn knows, never what it does next. */
function note(turn: Turn, fact: Occurrence): Turn {
  if (fact.type === "engine-set-aside") {
    const { failure: aside, ownsCompaction } = fact;
    return { ...turn, engine: { ...turn.engine, aside, ownsCompaction } };
  }
  if (fact.type === "rewritten" && turn.prompt !== null) {
    const entryId = fact.remapped.get(turn.prompt.entryId) ?? turn.prompt.entryId;
    return { ...turn, prompt: { ...turn.prompt, entryId } };
  }
  return turn;
}

/** A reply that is stored stands; a message that is not stored yet is stored in any case. */
function breakOff(turn: Turn, fact: Extract<Fact, { type: "aborted" | "broke" }>): Step {
  if (turn.reply !== null && turn.error === null) return endAfterReply(turn, fact);
  if (turn.error !== null) return doneOnly(turn, []);
  const error = errorOf(fact);
  const unstored = turn.prompt === null && turn.setup.purpose === "turn";
  const level = fact.type === "aborted" ? "info" : "error";
  const kept = unstored ? ["admit" as const] : isUnasked(turn, fact) ? ["refuse" as const] : [];
  return doneOnly({ ...turn, error }, kept, {
    do: "log",
    level,
    message: fact.type === "aborted" ? "turn aborted" : `turn failed: ${fact.message}`,
    fields: { sessionKey: turn.session.sessionKey },
  });
}

/** The host itself kept the model from being asked: the record tells why, as of any failure. */
const isUnasked = (turn: Turn, fact: Extract<Fact, { type: "aborted" | "broke" }>): boolean =>
  turn.todo[0] === "call" && fact.type === "broke" && !fact.byEngine && fact.code !== undefined;

function errorOf(fact: Extract<Fact, { type: "aborted" | "broke" }>): TurnError {
  if (fact.type === "aborted") return { kind: "aborted", message: "The run was cancelled." };
  const { byEngine, code, message } = fact;
  return { kind: byEngine ? "engine" : "host", ...(code !== undefined && { code }), message };
}

/** Only what follows the reply was cut short. */
function endAfterReply(turn: Turn, fact: Extract<Fact, { type: "aborted" | "broke" }>): Step {
  if (fact.type === "aborted") return doneOnly(turn, []);
  if (fact.byEngine && turn.setup.engine.strict)
    return doneOnly({ ...turn, error: errorOf(fact) }, []);
  return doneOnly(turn, [], {
    do: "log",
    level: "error",
    message: `after the reply: ${fact.message}`,
  });
}
