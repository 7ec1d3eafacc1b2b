// Decides whether a request says once more what its session was told already.
import type { AgentMessage, AssistantMessage, ToolResultMessage } from "@clew/plugin-sdk/core";
import { type TranscriptEntry, textOf } from "@clew/plugin-sdk/transcript";
import { planUndoTurn } from "../../sessions/undo-turn.ts";
import { contentOf, type NewestTurn } from "./newest-turn.ts";

export type Told = Pick<NewestTurn, "results" | "said" | "before">;

/**
 * What is known of the answer of a turn: "left" when whoever asked went away before it was whole,
 * "told" when it was told since, "ended" when a person stopped it, or its client went on without
 * giving the results that it asked for.
 */
export type AnswerFate = "left" | "told" | "ended";

/** A request, and what there is that it could say once more. */
export interface RepeatQuestion {
  asked: Told;
  /** Its client says that it has sent it before. */
  isRetry: boolean;
  /** Turns of its session that are not over, each by its newest request. */
  running: readonly { asked: Told; isLeft: boolean }[];
  /** What the session holds; empty while turns run in it. */
  branch: readonly TranscriptEntry[];
  /** By the id of the message that began the turn. Undefined: nobody knows. */
  fateOf(entryId: string): AnswerFate | undefined;
}

export type RepeatPlan =
  | { kind: "new" }
  /** The answer that is being given to the one of `running` at this place is this one's, too. */
  | { kind: "join"; at: number }
  /** It was answered: these are the replies. */
  | { kind: "told"; entryId: string; replies: readonly AssistantMessage[] }
  /** It is said behind the first `keep` entries, in place of what its turn left. */
  | { kind: "instead"; keep: number }
  /** What it says stands there; an answer follows the first `keep` entries. */
  | { kind: "on"; keep: number };

const NEW: RepeatPlan = { kind: "new" };

/** Pure. The same words are a new message where the answer to them was heard whole. */
export function planRepeat({
  asked,
  isRetry,
  running,
  branch,
  fateOf,
}: RepeatQuestion): RepeatPlan {
  const at = running.findLastIndex(
    (turn) => isSame(turn.asked, asked) && (asked.results.length > 0 || isRetry || turn.isLeft),
  );
  if (at !== -1) return { kind: "join", at };
  const turn = newestTurnIn(branch);
  if (turn === undefined) return NEW;
  if (asked.results.length > 0) {
    if (!answers(turn.results, asked.results)) return NEW;
    return turn.end === "answered" ? toldBy(turn) : { kind: "on", keep: turn.worked };
  }
  if (!isSameJson(turn.content, contentOf(asked))) return NEW;
  if (!isRetry && goesOnFrom(turn, asked)) return NEW;
  const fate = fateOf(turn.entryId);
  if (turn.end === "answered")
    return fate === "left" || (isRetry && fate === "told") ? toldBy(turn) : NEW;
  // What somebody ended is over, and who says the same wants it anew.
  const isOver = fate === "ended" && !isRetry;
  if (turn.results.length > 0) return isOver ? NEW : { kind: "on", keep: turn.worked };
  return isOver && turn.end === "partly" ? NEW : { kind: "instead", keep: turn.keep };
}

/** Its client has kept the turn and what it heard of the answer, and says the same behind them. */
function goesOnFrom({ content, replies }: NewestTurnIn, { before }: Told): boolean {
  if (before === undefined || before.text === "" || before.said.length === 0) return false;
  return (
    isSameJson(content, contentOf({ results: [], said: before.said })) &&
    replies.some((reply) => textOf(reply).trim().startsWith(before.text))
  );
}

interface NewestTurnIn {
  entryId: string;
  content: unknown;
  /** How many entries come before it. */
  keep: number;
  /** How many there are with all that its tools gave. */
  worked: number;
  /** What its tools gave last. */
  results: readonly ToolResultMessage[];
  /** Behind these. */
  replies: readonly AssistantMessage[];
  end: "answered" | "failed" | "partly" | "nothing";
}

function newestTurnIn(branch: readonly TranscriptEntry[]): NewestTurnIn | undefined {
  const last = planUndoTurn(branch);
  if (last === null) return undefined;
  const { keep, content } = last;
  const messageAt = (at: number): AgentMessage | undefined => {
    const entry = branch[at];
    return entry?.type === "message" ? entry.message : undefined;
  };
  const behind = branch.map((_, at) => at).slice(keep + 1);
  const worked = behind.findLast((at) => messageAt(at)?.role === "toolResult");
  const called = behind.findLast((at) => messageAt(at)?.role === "assistant" && at < (worked ?? 0));
  const between = (from: number, to: number) =>
    branch.slice(from, to).flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
  const replies = between((worked ?? keep) + 1, branch.length).filter(
    (message) => message.role === "assistant",
  );
  return {
    ...{ entryId: branch[keep]!.id, content, keep, replies },
    worked: (worked ?? keep) + 1,
    results: between(called ?? keep, (worked ?? keep) + 1).filter(
      (message) => message.role === "toolResult",
    ),
    end: endOf(replies.at(-1)),
  };
}

function endOf(reply: AssistantMessage | undefined): NewestTurnIn["end"] {
  if (reply === undefined) return "nothing";
  const { stopReason, content } = reply;
  if (stopReason === "error") return "failed";
  if (stopReason !== "aborted") return "answered";
  const hasWords = content.some((block) => block.type === "text" && block.text.trim() !== "");
  return hasWords ? "partly" : "nothing";
}

const toldBy = ({ entryId, replies }: NewestTurnIn): RepeatPlan => ({
  ...{ kind: "told", entryId, replies },
});

/** Each of `given` is there; what was said beside them stands behind the last one. */
const answers = (stored: readonly ToolResultMessage[], given: readonly ToolResultMessage[]) =>
  given.every(({ toolCallId: id, toolName: name, content }) =>
    stored.some(
      (result) =>
        (id === "" ? result.toolName === name : result.toolCallId === id) &&
        isSameJson(result.content.slice(0, content.length), content),
    ),
  );

const isSame = (a: Told, b: Told) =>
  isSameJson(a.said, b.said) && isSameJson(a.results.map(resultOf), b.results.map(resultOf));

/** A call has one result, the first; on a wire without ids it is told by what it says. */
const resultOf = ({ toolCallId: id, toolName, content, isError }: ToolResultMessage) =>
  id === "" ? [toolName, content, isError] : id;

const isSameJson = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
