// Runs one compaction, whatever asked for it, and moves to the successor it may have made.
import type { CompactionTrigger } from "@clew/plugin-sdk/host";
import { planSuccessor } from "../../session/successor.ts";
import { type CompactionOutcome, compactionReport } from "../compaction.ts";
import type { Tell } from "../effects.ts";
import { ask, done, type Step, type Task } from "../step.ts";
import type { CompactionUnderWay, Turn } from "../turn.ts";

/** What the host cannot count: the engine compacts by its own rules. */
const UNKNOWN = -1;

/** For the person who waits meanwhile. */
const NOTICES: Readonly<Record<CompactionTrigger, string>> = {
  manual: "Looking at what can be compacted.",
  threshold: "Compacting the conversation: it has grown long.",
  budget: "Compacting the conversation: the next request would not fit.",
  overflow: "Compacting the conversation: the model refused the request as too long.",
  timeout_recovery: "Compacting the conversation: the model did not answer in time.",
};

/** Hook, compaction, successor, maintenance, hook (contract §3.8). */
export const compact: Task = {
  begin(turn) {
    const { compaction } = turn;
    if (compaction === null) return done(turn);
    const { trigger, currentTokenCount = UNKNOWN } = compaction.request;
    const event = {
      session: compaction.before,
      trigger,
      messageCount: UNKNOWN,
      tokenCount: currentTokenCount,
    };
    const notice = { type: "notice" as const, text: NOTICES[trigger] };
    return ask(turn, { do: "tell-before", event }, { do: "emit", event: notice });
  },
  take(turn, answer) {
    const { compaction } = turn;
    if (compaction === null) return done(turn);
    switch (answer.type) {
      case "told":
        return compaction.outcome === null
          ? ask(turn, { do: "compact", by: compaction.by, request: compaction.request })
          : done(turn);
      case "compacted":
        return withTells(settleIn(turn, compaction, answer.outcome), [
          { do: "emit", event: { type: "compaction", compaction: compactionReport(answer) } },
        ]);
      case "adopted":
        return maintainOrEnd(
          answer.session === null
            ? turn
            : {
                ...turn,
                session: answer.session,
                prompt:
                  turn.prompt === null || answer.promptEntryId === null
                    ? turn.prompt
                    : { ...turn.prompt, entryId: answer.promptEntryId },
              },
        );
      case "maintained":
        return tellAfter(turn);
      default:
        return done(turn);
    }
  },
};

const worked = (outcome: CompactionOutcome | null) => outcome?.ok === true && outcome.compacted;

function settleIn(turn: Turn, compaction: CompactionUnderWay, outcome: CompactionOutcome): Step {
  const known = { ...turn, compaction: { ...compaction, outcome } };
  const log: Tell = {
    do: "log",
    level: "info",
    message: `compaction (${compaction.request.trigger}): ${
      outcome.compacted ? "compacted" : `not compacted (${outcome.reason ?? "no reason given"})`
    }`,
    fields: { sessionKey: turn.session.sessionKey },
  };
  if (!worked(outcome)) return withTells(tellAfter(known), [log, ...told(compaction, outcome)]);
  const tells: Tell[] = [log, { do: "forget-measurement" }];
  const plan = planSuccessor(turn.session, outcome);
  if (plan.kind === "adopt") {
    const { sessionId, sessionFile } = plan;
    return ask(known, { do: "adopt", sessionId, sessionFile, promptId: turn.prompt?.id }, ...tells);
  }
  if (plan.kind === "refuse")
    tells.push({
      do: "log",
      level: "warn",
      message: `compaction successor refused: ${plan.reason}`,
    });
  return withTells(maintainOrEnd(known), tells);
}

/** What was announced and did not happen; whoever asked for a compaction gets it as an answer. */
function told({ request }: CompactionUnderWay, { reason }: CompactionOutcome): Tell[] {
  if (request.trigger === "manual") return [];
  const text = `Nothing was compacted: ${reason ?? "no reason was given"}.`;
  return [{ do: "emit", event: { type: "notice", text } }];
}

function maintainOrEnd(turn: Turn): Step {
  return turn.engine.aside === null && turn.setup.engine.methods.has("maintain")
    ? ask(turn, { do: "maintain", reason: "compaction" })
    : tellAfter(turn);
}

function tellAfter(turn: Turn): Step {
  const { compaction, session } = turn;
  if (compaction === null) return done(turn);
  const { before, outcome, request } = compaction;
  return ask(turn, {
    do: "tell-after",
    event: {
      session,
      trigger: request.trigger,
      messageCount: UNKNOWN,
      tokenCount: outcome?.result?.tokensAfter ?? UNKNOWN,
      compacted: worked(outcome),
      ...(session.sessionId !== before.sessionId && { previousSessionId: before.sessionId }),
    },
  });
}

const withTells = (step: Step, tells: readonly Tell[]): Step => ({
  ...step,
  effects: [...tells, ...step.effects],
});
