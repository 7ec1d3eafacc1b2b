// Runs the turns of a gateway's sessions, whoever speaks in them.
import type { LogPort, TurnEvent, TurnReport, TurnRequest, TurnResult } from "@clew/engine-core";
import { isAbort } from "@clew/plugin-sdk/core";
import type { Lineage } from "../approvals/approval.ts";
import type { EventHub } from "../events/hub.ts";
import { type ToldTurn, tellTurn } from "../events/turn-events.ts";
import type { Host } from "../host/host.ts";
import type { Shadows } from "../lab/shadows.ts";
import { watchedTurn } from "../plugins/contain/turn-ends.ts";
import { type Refusal, refusedDuring } from "../plugins/load/scope.ts";
import type { Conversation, Conversations } from "../sessions/conversations.ts";
import { markOtherSession } from "../sessions/mark-other-session.ts";
import type { OpenSession } from "../sessions/open.ts";
import type { SessionStore } from "../sessions/store.ts";
import { takeBackBehind } from "../sessions/undo-turn.ts";
import { gatewayStopping, withStopReason } from "../stopping.ts";
import type { TurnStreams } from "../streams/turn-streams.ts";
import type { ChildTurn } from "../subagents/child-run.ts";
import { counted } from "../text/number.ts";
import type { Tracer } from "../tracing/tracer.ts";
import type { SaidEntry } from "../waiting/inbox.ts";
import type { SentResult } from "../waiting/item.ts";
import { type GoingOnPlan, planGoingOn } from "../waiting/plan-going-on.ts";
import type { InboxTurn } from "../waiting/run-lane.ts";
import { requireSame } from "../waiting/same-message.ts";
import type { SendRequest } from "../waiting/send-request.ts";
import { MessageTakenBack } from "../waiting/taken-back.ts";
import type { Cancellation } from "./cancellation.ts";
import type { ChildSessions } from "./child-sessions.ts";
import { lost, streamedTurn, type TurnOver } from "./streamed-turn.ts";
import { successorsOf } from "./successors.ts";
import type { TurnReports } from "./turn-reports.ts";
import type { UnstoredTurns } from "./unstored-turns.ts";

/** A turn that no person asked for, when it is over. */
export interface UnaskedTurn {
  /** Of the session that it was in. */
  key: string;
  /** Who spoke; null = several sessions did. */
  from: (Lineage & { sessionKey: string }) | null;
  result: TurnResult;
}

/** What turns run with. */
export interface TurnParts {
  host: Host;
  store: SessionStore;
  log: LogPort;
  reports: TurnReports;
  cancellation: Cancellation;
  conversations: Conversations;
  children: ChildSessions;
  events: EventHub;
  /** For those who listen to a turn. */
  streams: TurnStreams<TurnOver>;
  unstored: UnstoredTurns;
  /** Engines that are handed turns once they are over. */
  shadows: Pick<Shadows, "afterTurn">;
  tellUnasked(turn: UnaskedTurn): void;
  tracer: Tracer;
  /** Writes down what a turn paid for nothing. */
  noteWaste(conversation: Conversation, report: TurnReport): Promise<void>;
  isStopping: () => boolean;
  /** False: this gateway was not heard of for too long, and others may have its sessions. */
  mayAct(): boolean;
}

/** The turn of a person's message; the key is canonical, so that `cancel` finds the run. */
export const runMessage = (parts: TurnParts, turn: InboxTurn): Promise<SentResult> =>
  watchedTurn(() => runAsked(parts, turn));

async function runAsked(parts: TurnParts, given: InboxTurn): Promise<SentResult> {
  const { request, prompt, mayBeKnown, waits, onEvent, signal, saidMeanwhile, goesOnFrom } = given;
  let entryId: string | undefined;
  const isWatched = request.isWatched ?? request.onEvent !== undefined;
  const { onEvent: _listener, ...asked } = request;
  const turn = { ...asked, onEvent, signal, saidMeanwhile, isWatched };
  const answered = await runTurn(parts, turn, async (conversation) => {
    const { session } = conversation;
    if (goesOnFrom !== undefined) {
      entryId = goesOnFrom;
      return goOn(parts, session, goesOnFrom);
    }
    const known = mayBeKnown ? entrySaying(session, prompt.idempotencyKey) : undefined;
    if (known !== undefined && request.kind === undefined)
      requireSame(request.key, { sent: prompt.content, before: known.content });
    entryId = known?.entryId;
    const { sessionKey } = session.session;
    const isUnstored = entryId !== undefined && parts.unstored.has(sessionKey, entryId);
    if ((entryId === undefined || isUnstored) && !(await waits())) throw new MessageTakenBack();
    if (isUnstored) {
      if (parts.unstored.take(sessionKey, entryId!) === "last") return sayAgain(session, entryId!);
      // What is shown behind it answers something else.
      entryId = undefined;
    }
    const said = request.atItsTurn?.(session.branch()) ?? prompt;
    if ("goesOnFrom" in said) {
      await session.append(said.results);
      return sayAgain(session, said.goesOnFrom);
    }
    if ("entryId" in said) entryId = said.entryId;
    if (entryId !== undefined || "entryId" in said) return undefined;
    if ("keep" in said && said.keep !== undefined)
      await takeBackBehind(conversation, said.keep, "client");
    await parts.children.tellUntold(session);
    return { prompt: { ...prompt, content: said.content } };
  });
  return answered ?? { outcome: "known", entryId: entryId! };
}

/** A turn that ends its gateway is not to end all of them. */
const MOST_TRIES = 3;

/** What a turn answers. */
interface Asked {
  prompt: TurnRequest["prompt"];
  /** Entry that says it already. Absent: it is to be said. */
  goesOnFrom?: string;
}

/** What the turn of an entry goes on with; undefined: it is over. */
async function goOn(
  { log }: TurnParts,
  session: OpenSession,
  entryId: string,
): Promise<Asked | undefined> {
  const cut = session.cutTurn?.() ?? null;
  if (cut?.entryId !== entryId) return undefined;
  const plan = planGoingOn(session.branch(), entryId);
  const { sessionKey } = session.session;
  const isTooOften = plan.kind === "goes-on" && (await cut.tryAgain()) > MOST_TRIES;
  if (isTooOften)
    log.error(
      `a turn of ${sessionKey} was cut short ${MOST_TRIES} times by the end of its gateway, and nobody goes on with it any more; say it again`,
    );
  if (plan.kind === "over" || isTooOften) {
    await cut.end();
    return undefined;
  }
  log.info(`a turn of ${sessionKey} that was cut short goes on`);
  return goneOn(session, plan, entryId);
}

/** Whoever said it asks for what could not be stored; undefined: it was. */
async function sayAgain(session: OpenSession, entryId: string): Promise<Asked | undefined> {
  const plan = planGoingOn(session.branch(), entryId);
  return plan.kind === "over" ? undefined : goneOn(session, plan, entryId);
}

async function goneOn(
  session: OpenSession,
  plan: Extract<GoingOnPlan, { kind: "goes-on" }>,
  goesOnFrom: string,
): Promise<Asked> {
  if (plan.lacking.length > 0) await session.append(plan.lacking);
  const { role: _role, ...prompt } = plan.prompt;
  return { prompt, goesOnFrom };
}

/** The entry of a message that was sent under this name. */
export function entrySaying(
  session: Pick<OpenSession, "branch">,
  idempotencyKey: string | undefined,
): SaidEntry | undefined {
  for (const entry of session.branch().toReversed()) {
    if (entry.type !== "message" || entry.message.role !== "user") continue;
    const { idempotencyKey: name, content } = entry.message;
    if (name === idempotencyKey) return { entryId: entry.id, content };
  }
  return undefined;
}

/** One that no person asked for; undefined: there was nothing to say. */
export async function converse(
  parts: TurnParts,
  { key, signal, said, onAccepted }: ChildTurn,
): Promise<TurnResult | undefined> {
  const onEvent = ({ type }: TurnEvent) => {
    if (type === "accepted") onAccepted?.();
  };
  let from: string | undefined;
  const result = await runTurn(parts, { key, signal, onEvent, told: "session" }, ({ session }) => {
    const message = said(session.branch());
    from = message?.provenance?.sourceSessionKey;
    return message && { prompt: markOtherSession({ role: "user", ...message }) };
  });
  if (result === undefined) return undefined;
  const speaker =
    from === undefined ? null : { ...parts.children.lineageOf(from), sessionKey: from };
  parts.tellUnasked({ key, from: speaker, result });
  return result;
}

interface TurnAsked extends Omit<SendRequest, "content">, Pick<InboxTurn, "saidMeanwhile"> {
  told?: ToldTurn["kind"];
}

/** `askedIn` is asked when the turns before it are over; undefined: there is no turn. */
function runTurn(
  parts: TurnParts,
  {
    key,
    signal: given,
    onEvent,
    allowTools,
    kind,
    client,
    isWatched = onEvent !== undefined,
    saidMeanwhile,
    afterTurn,
    told = kind ?? "user",
  }: TurnAsked,
  askedIn: (conversation: Conversation) => Promise<Asked | undefined> | Asked | undefined,
): Promise<TurnResult | undefined> {
  const { host, reports, log, isStopping, children, events, unstored } = parts;
  const traced = parts.tracer.begin();
  return inSession(parts, { key, signal: given, told }, async (conversation, signal) => {
    const asked = await askedIn(conversation);
    if (asked === undefined) return undefined;
    const { prompt, goesOnFrom } = asked;
    const { session } = conversation;
    const { sessionKey } = session.session;
    if (goesOnFrom === undefined) unstored.passed(sessionKey, session.branch());
    await reports.countTurns(conversation, goesOnFrom);
    const isNew = !session.exists();
    const turn = { key, kind: told, prompt, isNew, now: () => reports.turnNow(conversation) };
    const streamed = { key, prompt, branch: session.branch(), goesOnFrom };
    const run = (remember: (event: TurnEvent) => void) =>
      tellTurn(events, turn, async (tell) => {
        const answered = await host.answer({
          transcript: conversation.session,
          state: conversation.state,
          ...{ prompt, signal, allowTools, kind, client, isWatched, saidMeanwhile, goesOnFrom },
          onEvent: (event) => {
            remember(event);
            tell(event);
            onEvent?.(event);
          },
          onStep: traced?.step,
          onBegin: (soFar) => reports.begin(conversation, soFar),
          successors: successorsOf(parts, conversation),
        });
        // Nothing of its end is stored: whoever has the session next goes on with it.
        if (!parts.mayAct()) {
          children.cancelBelow(key);
          throw lost();
        }
        const ended = withStopReason(answered, {
          isStopping: isStopping(),
          abortedBy: given?.reason,
        });
        unstored.ended(sessionKey, ended);
        const { ownsCompaction } = ended.report.engine;
        const subject = { transcript: session, kind: kind ?? "user", ownsCompaction };
        const refused = await refusedDuring(session.session, async () => {
          if (ended.outcome === "completed") await host.flushes.afterTurn(subject, ended.report);
        });
        const result = withRefusals(ended, refused);
        await reports.store(conversation, result);
        await parts.noteWaste(conversation, result.report);
        parts.shadows.afterTurn(session.session, result.report);
        logTurn(log, result);
        traced?.end(result);
        // Whoever ends a turn ends what it started.
        if (result.outcome === "aborted" || result.error?.kind === "timeout")
          children.cancelBelow(key);
        return result;
      });
    return streamedTurn(parts.streams, streamed, run).finally(async () => {
      if (parts.mayAct()) await afterTurn?.(conversation);
    });
  });
}

/**
 * A person's cancelling reaches a message only once it is its turn: those that wait behind go on
 * waiting. What sessions say to each other it reaches wherever it is.
 */
function inSession<Result>(
  parts: TurnParts,
  { key, signal: given, told }: Pick<TurnAsked, "key" | "signal" | "told">,
  work: (conversation: Conversation, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const { conversations, isStopping } = parts;
  if (told === "session")
    return cancellable(parts, key, given, (signal) =>
      conversations.run(key, (conversation) => work(conversation, signal), signal),
    );
  return conversations.run(
    key,
    (conversation) => {
      if (isStopping()) throw gatewayStopping();
      return cancellable(parts, key, given, (signal) => work(conversation, signal));
    },
    given,
  );
}

/** What plugins were refused after it, too. */
function withRefusals(result: TurnResult, refused: readonly Refusal[]): TurnResult {
  if (refused.length === 0) return result;
  const refusals = [...(result.report.refusals ?? []), ...refused];
  return { ...result, report: { ...result.report, refusals } };
}

/** What the end of the gateway cancelled says so. */
export function cancellable<Result>(
  { cancellation, isStopping }: Pick<TurnParts, "cancellation" | "isStopping">,
  key: string,
  given: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  return cancellation.run(key, given, work).catch((error: unknown) => {
    throw isStopping() && isAbort(error) ? gatewayStopping() : error;
  });
}

function logTurn(log: LogPort, { outcome, report }: TurnResult): void {
  const { sessionKey, durationMs, hostMs, engine, modelCalls, model } = report;
  const degraded =
    engine.degraded === null
      ? ""
      : ` (${engine.configured} set aside: ${engine.degraded.operation}: ${engine.degraded.reason})`;
  const instead =
    model.fallback === undefined ? "" : ` in place of ${model.requested} (${model.fallback})`;
  const answered = `${counted(modelCalls.length, "model call")}, ${model.resolved}${instead}`;
  log.info(`turn ${outcome}: ${answered}, engine ${engine.ran}${degraded}`, {
    sessionKey,
    durationMs: Math.round(durationMs),
    hostMs: Math.round(hostMs * 10) / 10,
  });
}
