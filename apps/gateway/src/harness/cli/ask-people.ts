// Asks people for what a program wants to do, where nobody to ask is a no.
import type { ApprovalEnd } from "../../approvals/approval.ts";
import type { HarnessRequest } from "../harness.ts";
import type { CliEvent } from "./backend.ts";

export async function askPeople(
  { session, approvals }: Pick<HarnessRequest, "session" | "approvals">,
  id: string,
  signal: AbortSignal,
  asked: Extract<CliEvent, { type: "ask" }>,
): Promise<ApprovalEnd> {
  if (approvals === undefined) return { kind: "nobody" };
  const { agentId, sessionKey } = session;
  const { command } = asked.args;
  const request = {
    ...{ asker: { kind: "harness" as const, id }, session: { agentId, sessionKey } },
    ...{ name: asked.name, arguments: asked.args },
    ...(typeof command === "string" && { grant: command }),
    ...(asked.callId !== undefined && { callId: asked.callId }),
  };
  return approvals.ask(request, signal).catch((): ApprovalEnd => ({ kind: "withdrawn" }));
}
