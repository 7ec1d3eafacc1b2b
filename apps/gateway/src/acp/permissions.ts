// Asks an editor what waits for a person, in the one queue of such questions.
import type {
  AgentContext,
  PermissionOption,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from "@agentclientprotocol/sdk";
import type { LogPort } from "@clew/engine-core";
import { isRecord } from "@clew/plugin-sdk/host";
import {
  type Approval,
  type ApprovalAnswer,
  describeAsker,
  describeSession,
} from "../approvals/approval.ts";
import type { Approvals, Watcher } from "../approvals/queue.ts";
import { number } from "../text/number.ts";
import { visible } from "../text/visible.ts";
import { type CallPlace, viewCall } from "./tool-calls.ts";

export interface PermissionsOptions {
  approvals: Pick<Approvals, "attach" | "answer" | "cannotAsk">;
  client: Pick<AgentContext, "request">;
  /** Tells the editor what a session has to say besides its replies. */
  note(sessionId: string, text: string): void;
  /** Which of the editor's sessions a question is about; undefined: none. */
  sessionOf(approval: Approval): (CallPlace & { sessionId: string; key: string }) | undefined;
  log: LogPort;
}

const OPTIONS: Readonly<Record<ApprovalAnswer, Pick<PermissionOption, "name" | "kind">>> = {
  once: { name: "Allow once", kind: "allow_once" },
  session: { name: "Allow in this session", kind: "allow_always" },
  no: { name: "Refuse", kind: "reject_once" },
};
const ANSWERS = Object.keys(OPTIONS) as ApprovalAnswer[];

/** Until the function that it gives is called. */
export function askInEditor(options: PermissionsOptions): () => void {
  const { approvals, client, sessionOf, note, log } = options;
  const open = new Map<string, AbortController>();
  const ask = async (approval: Approval) => {
    const session = sessionOf(approval);
    if (session === undefined) return;
    const over = new AbortController();
    open.set(approval.id, over);
    const asked = planQuestion(approval, session);
    const waiting = { cancellationSignal: over.signal };
    try {
      const said = await client.request("session/request_permission", asked, waiting);
      if (!over.signal.aborted) approvals.answer(approval.id, answerOf(said), "editor");
    } catch (error) {
      if (over.signal.aborted) return;
      const why = `the editor cannot ask (${visible(error instanceof Error ? error.message : String(error))})`;
      log.warn(`whether ${approval.name} may run: ${why}`);
      if (approvals.cannotAsk(approval.id, watcher, why))
        note(session.sessionId, describeElsewhere(approval, why));
    } finally {
      open.delete(approval.id);
    }
  };
  const watcher: Watcher = {
    canAnswer: true,
    asked: (approval) => void ask(approval),
    over: ({ id }) => open.get(id)?.abort(new Error("It was answered elsewhere.")),
  };
  return approvals.attach(watcher);
}

/** Pure. */
function describeElsewhere({ name, id, askedAt, expiresAt }: Approval, why: string): string {
  const seconds = number(Math.round((Date.parse(expiresAt) - Date.parse(askedAt)) / 1000));
  return `${visible(name)} needs a person's approval, and ${why}. Answer on the page, or with "clew approvals answer ${id} once"; after ${seconds} s the answer is no.`;
}

/** Pure but for the file that a call would change. */
export function planQuestion(
  approval: Approval,
  session: CallPlace & { sessionId: string; key: string },
): RequestPermissionRequest {
  const { id, name, arguments: given, asker, grants, callId } = approval;
  const { title, kind, locations, diffs } = viewCall({ name, arguments: given }, session);
  const isOwn = approval.sessionKey === session.key;
  const of = isOwn ? "" : ` (session ${describeSession(approval)})`;
  // The call itself is shown, and there nobody says whose tool it is.
  const isShown = isOwn && callId !== undefined;
  const by = asker.kind === "tool" || isShown ? "" : ` (${visible(describeAsker(asker))})`;
  return {
    sessionId: session.sessionId,
    toolCall: {
      // A call of a session that this one started is not shown in it.
      toolCallId: isShown ? callId : `approval:${id}`,
      ...{ name, kind, locations, rawInput: given, status: "pending" },
      title: `${title}${by}${of}`,
      ...(diffs.length > 0 && { content: diffs }),
    },
    options: ANSWERS.map((optionId) => ({
      ...{ optionId, ...OPTIONS[optionId] },
      ...(optionId === "session" && { name: `Allow in this session: ${visible(grants)}` }),
    })),
  };
}

/** Pure. Whoever closes the question says no. Throws for what is no answer. */
function answerOf(said: RequestPermissionResponse): ApprovalAnswer {
  const outcome = (isRecord(said) && said.outcome) || undefined;
  if (outcome?.outcome === "cancelled") return "no";
  if (outcome?.outcome !== "selected") throw new Error("its answer has no outcome");
  return ANSWERS.find((answer) => answer === outcome.optionId) ?? "no";
}
