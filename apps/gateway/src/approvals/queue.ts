// The one queue of questions that turns wait on until a person answers.
import { randomBytes } from "node:crypto";
import type { LogPort } from "@clew/engine-core";
import {
  type AnsweredAt,
  type Approval,
  type ApprovalAnswer,
  type ApprovalEnd,
  type ApprovalRequest,
  concerns,
  type Lineage,
} from "./approval.ts";
import { type GrantFiles, isSameGrant } from "./grants.ts";

/** A place where questions are shown. */
export interface Watcher {
  /** False: it only looks on, and nobody answers from there. */
  canAnswer: boolean;
  asked(approval: Approval): void;
  over(approval: Approval, end: ApprovalEnd): void;
}

export type AnswerOutcome =
  | { kind: "counted"; approval: Approval; end: ApprovalEnd }
  /** Somebody or something was faster. */
  | { kind: "over"; approval: Approval; end: ApprovalEnd }
  | { kind: "unknown" };

export interface Approvals {
  /**
   * Waits for the first answer, wherever it is given; "withdrawn" when the turn is stopped while
   * it waits. Rejects with the signal's reason when it is stopped else; then nothing may run.
   */
  ask(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalEnd>;
  /** Those that wait, oldest first; of one session and those below it where it is named. */
  pending(sessionKey?: string): Approval[];
  /** The first answer counts. */
  answer(id: string, answer: ApprovalAnswer, at: AnsweredAt): AnswerOutcome;
  /** Shows questions of every session, from those that wait on; the function it gives ends that. */
  attach(watcher: Watcher): () => void;
  /**
   * A place where the question was shown cannot ask it. True: it waits for an answer elsewhere;
   * else it is over, since nobody is left to give one. `why` is half a sentence.
   */
  cannotAsk(id: string, at: Watcher, why: string): boolean;
  /** What was allowed in a session is asked for again. */
  forget(session: ApprovalRequest["session"]): Promise<void>;
}

export interface ApprovalsOptions {
  grants: GrantFiles;
  log: LogPort;
  /** How long a question waits, ms; 0 = nobody is asked, and the answer is no. */
  expireMs: number;
  /** Absent: no session starts others. */
  lineageOf?: (sessionKey: string) => Lineage;
}

interface Asked {
  request: ApprovalRequest;
  approval: Approval;
  end: ApprovalEnd | undefined;
  settle(end: ApprovalEnd): void;
}

/** Questions that are over and still told of, so that a late answer hears what became of them. */
const KEPT_ENDED = 200;

const STARTED_BY_NOBODY: Lineage = { above: [], label: null };

export function createApprovals(options: ApprovalsOptions): Approvals {
  const { grants, log, expireMs, lineageOf = () => STARTED_BY_NOBODY } = options;
  const watchers = new Set<Watcher>();
  const waiting = new Map<string, Asked>();
  const ended = new Map<string, Asked>();

  const canBeAsked = () => expireMs > 0 && [...watchers].some(({ canAnswer }) => canAnswer);
  /** False: it was over. */
  function close(asked: Asked, end: ApprovalEnd): boolean {
    if (asked.end !== undefined) return false;
    asked.end = end;
    const { id } = asked.approval;
    waiting.delete(id);
    ended.set(id, asked);
    if (ended.size > KEPT_ENDED) ended.delete(ended.keys().next().value!);
    for (const watcher of watchers) watcher.over(asked.approval, end);
    asked.settle(end);
    return true;
  }
  /** The same question, which other calls wait with, is answered, too. */
  async function keep(request: ApprovalRequest): Promise<void> {
    try {
      await grants.add(request);
    } catch (error) {
      const { name, session } = request;
      log.warn(
        `${name} was allowed for session ${session.sessionKey}, but that could not be stored, so it counts once: ${String(error)}`,
      );
      return;
    }
    for (const other of [...waiting.values()])
      if (isSameGrant(other.request, request)) close(other, { kind: "remembered" });
  }
  return {
    async ask(request, signal) {
      signal.throwIfAborted();
      if (await grants.has(request)) return { kind: "remembered" };
      signal.throwIfAborted();
      if (!canBeAsked()) return { kind: "nobody" };
      const { promise, resolve: settle } = Promise.withResolvers<ApprovalEnd>();
      const approval = approvalOf(request, lineageOf(request.session.sessionKey), expireMs);
      const asked: Asked = { request, approval, end: undefined, settle };
      waiting.set(approval.id, asked);
      const expire = () => close(asked, { kind: "expired", afterMs: expireMs });
      const timer = setTimeout(expire, expireMs);
      const withdraw = () => close(asked, { kind: "withdrawn" });
      signal.addEventListener("abort", withdraw, { once: true });
      for (const watcher of watchers) watcher.asked(approval);
      const end = await promise;
      clearTimeout(timer);
      signal.removeEventListener("abort", withdraw);
      if (end.kind === "answered" && end.answer === "session") await keep(request);
      if (end.kind !== "withdrawn") signal.throwIfAborted();
      return end;
    },
    pending: (sessionKey) =>
      [...waiting.values()].flatMap(({ approval }) =>
        sessionKey === undefined || concerns(approval, sessionKey) ? [approval] : [],
      ),
    answer(id, answer, at) {
      const asked = waiting.get(id) ?? ended.get(id);
      if (asked === undefined) return { kind: "unknown" };
      const counted = close(asked, { kind: "answered", answer, at });
      return { kind: counted ? "counted" : "over", approval: asked.approval, end: asked.end! };
    },
    attach(watcher) {
      watchers.add(watcher);
      for (const { approval } of waiting.values()) watcher.asked(approval);
      return () => {
        watchers.delete(watcher);
        if (!canBeAsked())
          for (const asked of [...waiting.values()]) close(asked, { kind: "nobody" });
      };
    },
    cannotAsk(id, at, why) {
      const asked = waiting.get(id);
      if (asked === undefined) return false;
      if ([...watchers].some((each) => each !== at && each.canAnswer)) return true;
      close(asked, { kind: "nobody", why });
      return false;
    },
    forget: (session) => grants.forget(session),
  };
}

function approvalOf(
  request: ApprovalRequest,
  { above, label }: Lineage,
  expireMs: number,
): Approval {
  const now = Date.now();
  const { asker, session, name, grant, callId } = request;
  return {
    id: randomBytes(4).toString("hex"),
    ...{ asker, agentId: session.agentId, sessionKey: session.sessionKey, above, label, name },
    arguments: request.arguments,
    ...(callId !== undefined && { callId }),
    grants: grant === undefined ? `any call of ${name}` : `the same call of ${name} again`,
    askedAt: new Date(now).toISOString(),
    expiresAt: new Date(now + expireMs).toISOString(),
  };
}
