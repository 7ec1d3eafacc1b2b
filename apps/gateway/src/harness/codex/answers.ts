// What Codex is answered when it asks whether it may do something.
import type { HostSession } from "@clew/engine-core";
import { type ApprovalEnd, isAllowed } from "../../approvals/approval.ts";
import type { Approvals } from "../../approvals/queue.ts";
import type { OwnCall } from "../open-calls.ts";
import { ApprovalSchema, ElicitationSchema, QuestionsSchema } from "./protocol.ts";

export interface Asking {
  session: HostSession;
  approvals: Approvals | undefined;
  signal: AbortSignal;
  /** The call that it asks about. Absent: it is not known. */
  about?: OwnCall | undefined;
}

/** Undefined: it is none of these questions. */
export async function answerTo(
  method: string,
  params: unknown,
  asking: Asking,
): Promise<object | undefined> {
  switch (method) {
    case "item/commandExecution/requestApproval": {
      const { command, cwd, reason } = ApprovalSchema.parse(params);
      const given = { ...set("command", command), ...set("cwd", cwd), ...set("reason", reason) };
      const grant = command ?? undefined;
      return { decision: decisionOf(await ask(asking, "shell", given, grant)) };
    }
    case "item/fileChange/requestApproval": {
      const { reason } = ApprovalSchema.parse(params);
      const given = { ...asking.about?.args, ...set("reason", reason) };
      return { decision: decisionOf(await ask(asking, "apply_patch", given)) };
    }
    case "item/permissions/requestApproval":
      // More than the settings give is not a person's to give in the middle of a turn.
      return { permissions: {}, scope: "turn" };
    case "item/tool/requestUserInput": {
      const { questions } = QuestionsSchema.parse(params);
      const answers = questions.map(({ id }) => [id, { answers: [NOBODY_CHOOSES] }]);
      return { answers: Object.fromEntries(answers) };
    }
    case "mcpServer/elicitation/request": {
      const { serverName, message, _meta } = ElicitationSchema.parse(params);
      if (_meta?.codex_approval_kind === undefined) return { action: "decline", content: null };
      const given = { server: serverName, ...set("message", message) };
      const end = await ask(asking, `mcp__${serverName}`, given);
      return isAllowed(end)
        ? { action: "accept", content: {} }
        : { action: "decline", content: null };
    }
    default:
      return undefined;
  }
}

const NOBODY_CHOOSES = "Nobody can choose here: ask in your reply, in words.";

const set = (key: string, value: string | null | undefined) =>
  value == null ? {} : { [key]: value };

/** Nobody to ask is a no. */
async function ask(
  { session, approvals, signal, about }: Asking,
  name: string,
  given: Record<string, unknown>,
  grant?: string,
): Promise<ApprovalEnd> {
  if (approvals === undefined) return { kind: "nobody" };
  const { agentId, sessionKey } = session;
  const asker = { kind: "harness" as const, id: "codex" };
  const callId = about === undefined ? {} : { callId: about.id };
  const request = { asker, session: { agentId, sessionKey }, name, arguments: given, ...callId };
  return approvals
    .ask({ ...request, ...(grant !== undefined && { grant }) }, signal)
    .catch((): ApprovalEnd => ({ kind: "withdrawn" }));
}

/** The gateway remembers what counts for a session; a cancel would end the turn. */
function decisionOf(end: ApprovalEnd): "accept" | "decline" | "cancel" {
  if (isAllowed(end)) return "accept";
  return end.kind === "withdrawn" ? "cancel" : "decline";
}
