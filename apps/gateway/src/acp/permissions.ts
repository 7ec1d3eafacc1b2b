// Asks an editor what waits for a person, in the one queue of such questions.
import type {
  AgentContext,
  PermissionOption,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from "@agentclientprotocol/sdk";
import type { LogPort } from "@clew/engine-core";
import {
  type Approval,
  type ApprovalAnswer,
  describeAsker,
  describeSession,
} from "../approvals/approval.ts";
import type { Approvals } from "../approvals/queue.ts";
import { visible } from "../text/visible.ts";
import { type CallPlace, viewCall } from "./tool-calls.ts";

export interface PermissionsOptions {
  approvals: Pick<Approvals, "attach" | "answer">;
  client: Pick<AgentContext, "request">;
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
export function askInEditor({ approvals, client, sessionOf, log }: PermissionsOptions): () => void {
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
      // Somebody else may answer, and else its time will be up.
      if (!over.signal.aborted)
        log.warn(`an editor could not ask whether ${approval.name} may run: ${String(error)}`);
    } finally {
      open.delete(approval.id);
    }
  };
  return approvals.attach({
    canAnswer: true,
    asked: (approval) => void ask(approval),
    over: ({ id }) => open.get(id)?.abort(new Error("It was answered elsewhere.")),
  });
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
  const by = asker.kind === "tool" ? "" : ` (${visible(describeAsker(asker))})`;
  return {
    sessionId: session.sessionId,
    toolCall: {
      // A call of a session that this one started is not shown in it.
      toolCallId: isOwn && callId !== undefined ? callId : `approval:${id}`,
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

/** Pure. Whoever closes the question says no. */
function answerOf({ outcome }: RequestPermissionResponse): ApprovalAnswer {
  if (outcome.outcome !== "selected") return "no";
  return ANSWERS.find((answer) => answer === outcome.optionId) ?? "no";
}
