// Lets the engine choose what of the history the model sees.
import { normalizePromptText } from "@clew/plugin-sdk/host";
import {
  applySessionPrune,
  planSessionPrune,
  type SessionProjection,
  sessionPruneEntry,
} from "@clew/plugin-sdk/transcript";
import type { SystemPart } from "../../request/request-items.ts";
import { asChanged, messagesOf, type ViewItem } from "../../request/view-item.ts";
import { viewProblem } from "../../request/view-problem.ts";
import type { Choice } from "../facts.ts";
import { sessionPruneSettings } from "../session-prune.ts";
import { ask, done, type Step, type Task } from "../step.ts";
import type { Assembly, Turn } from "../turn.ts";
import { answerBadView } from "./bad-view.ts";

/**
 * The choice is made once per turn (contract §3.1 step 4), and again after a compaction. Where old
 * tool output is then shortened, a record of it is appended, so that it stays shortened.
 */
export const assemble: Task = {
  begin: (turn) =>
    ask(turn, {
      do: "assemble",
      items: turn.history,
      promptId: turn.prompt?.id,
      again: false,
      withTurn: false,
    }),
  take(turn, answer) {
    switch (answer.type) {
      case "assembled": {
        const { contextWindow } = turn.setup.model;
        const asked = { history: turn.history, turn: null, contextWindow };
        const problem = viewProblem(answer.choice.items, asked);
        if (problem === undefined) return prune(turn, assemblyOf(turn, answer.choice));
        return answerBadView(turn, problem, (noted) => ({
          ...noted,
          assembly: wholeHistory(noted),
        }));
      }
      case "not-assembled":
        return done(
          { ...turn, assembly: wholeHistory(turn) },
          {
            do: "log",
            level: "warn",
            message: `context engine assemble failed, using pipeline messages: ${answer.reason}`,
          },
        );
      default:
        return done(turn);
    }
  },
};

const assemblyOf = ({ setup }: Turn, choice: Choice): Assembly => ({
  items: choice.items,
  system: placeAddition(setup.systemPrompt, normalizePromptText(choice.addition)),
  engineEstimate: choice.engineEstimate,
  promptAuthority: choice.promptAuthority,
  projection: choice.projection,
});

const wholeHistory = ({ setup, history }: Turn): Assembly => ({
  items: history,
  system: setup.systemPrompt,
  engineEstimate: null,
  promptAuthority: "assembled",
  projection: null,
});

/**
 * The engine's addition goes right after the cacheable part when the prompt marks
 * one, else before everything.
 */
function placeAddition(
  parts: readonly SystemPart[],
  addition: string | undefined,
): readonly SystemPart[] {
  if (addition === undefined) return parts;
  const boundary = parts.findLastIndex((part) => part.cacheBoundary) + 1;
  return [...parts.slice(0, boundary), { id: "engine", text: addition }, ...parts.slice(boundary)];
}

/** Decides for this turn which old results the view shows shortened, and stores what is new. */
function prune(turn: Turn, assembly: Assembly): Step {
  const { setup, projections: previous } = turn;
  const settings = sessionPruneSettings(setup.model, setup.settings.sessionPrune);
  if (settings.mode === "off") return done({ ...turn, projections: [], assembly });
  const messages = messagesOf(assembly.items);
  const { projections, added } = planSessionPrune({
    messages,
    entryIdOf: entryIdIn(assembly.items),
    now: setup.startedAt,
    // Every call touches the provider's cache, so the newest reply tells when.
    lastCacheTouchAt: messages.findLast(({ role }) => role === "assistant")?.timestamp,
    contextWindow: setup.model.contextWindow,
    settings,
    previous,
  });
  const pruned = {
    ...turn,
    projections,
    assembly: { ...assembly, items: showPruned(assembly.items, projections) },
  };
  if (added.length === 0) return done(pruned);
  return ask(
    pruned,
    { do: "append", as: "prune", entries: [sessionPruneEntry(added)] },
    {
      do: "log",
      level: "info",
      message: `session prune: ${added.length} tool results shortened in the view`,
      fields: { sessionKey: turn.session.sessionKey },
    },
  );
}

/** The items as the decisions show them; the same ones where none concerns them. */
export function showPruned(
  items: readonly ViewItem[],
  projections: readonly SessionProjection[],
): readonly ViewItem[] {
  if (projections.length === 0) return items;
  const messages = messagesOf(items);
  const shown = applySessionPrune(messages, projections, entryIdIn(items));
  if (shown === messages) return items;
  return items.map((item, index) => {
    const message = shown[index]!;
    if (message === item.message || item.why.source.kind !== "entry") return item;
    return { ...item, message, why: asChanged(item.why.source.entryId, item.why) };
  });
}

function entryIdIn(items: readonly ViewItem[]) {
  const ids = new Map(
    items.map(({ message, why: { source } }) => [
      message,
      source.kind === "entry" ? source.entryId : undefined,
    ]),
  );
  return (message: ViewItem["message"]) => ids.get(message);
}
