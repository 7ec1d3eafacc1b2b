// Runs the `clew approvals` commands, which ask the running gateway.
import { ContextEngineError, type ErrorCode } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import {
  type Approval,
  ASK_ANSWERS,
  describeAsker,
  describeSession,
} from "../../approvals/approval.ts";
import { defaultAgentId } from "../../config/agent.ts";
import { loadConfig } from "../../config/load.ts";
import { describeMissing, findOwnGateway, type OwnAnswer } from "../../gateway-client.ts";
import { requireSessionName } from "../../sessions/name-errors.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { visible, visibleJson } from "../../text/visible.ts";

interface Asked {
  json?: boolean;
}

/** Throws GATEWAY_UNREACHABLE, SESSION_NAME_INVALID. */
export async function approvalsList(
  { session, json = false }: Asked & { session?: string },
  shell: Shell,
): Promise<number> {
  const { config } = await loadConfig(shell.environment.configFile);
  const key =
    session === undefined ? undefined : requireSessionName(session, defaultAgentId(config)).key;
  const query = key === undefined ? "" : `?session=${encodeURIComponent(key)}`;
  const { body } = await ask(shell, `/api/approvals${query}`);
  const approvals = body.approvals as Approval[];
  if (json) shell.output.json({ approvals });
  else if (approvals.length === 0)
    shell.output.line(
      "No turn of the gateway waits for an answer; a chat asks in its own terminal.",
    );
  for (const approval of json ? [] : approvals)
    for (const line of describe(approval, Date.now())) shell.output.line(visible(line));
  return EXIT.done;
}

function describe(approval: Approval, now: number): string[] {
  const { id, asker, name, grants, expiresAt } = approval;
  const seconds = Math.max(0, Math.round((Date.parse(expiresAt) - now) / 1000));
  return [
    `${id}  ${describeAsker(asker)} asks in session ${describeSession(approval)} to run ${name}; ${seconds} s are left`,
    ...visibleJson(approval.arguments, 2)
      .split("\n")
      .map((line) => `    ${line}`),
    `    clew approvals answer ${id} once | session (allows ${grants}) | no`,
  ];
}

/** Throws REQUEST_INVALID, GATEWAY_UNREACHABLE. */
export async function approvalsAnswer(
  id: string,
  answer: string,
  { json = false }: Asked,
  shell: Shell,
): Promise<number> {
  if (!(ASK_ANSWERS as readonly string[]).includes(answer))
    throw new ContextEngineError(
      "REQUEST_INVALID",
      `"${answer}" is no answer; say ${ASK_ANSWERS.join(", ")}.`,
    );
  const path = `/api/approvals/${encodeURIComponent(id)}/${answer}`;
  const { status, body } = await ask(shell, path, "POST");
  if (status === 200) {
    if (json) shell.output.json(body);
    else shell.output.line(printable(String(body.text)));
    return EXIT.done;
  }
  const { code, message } = errorIn(body);
  if (json) shell.output.json(body);
  else
    shell.output.note(
      `clew: ${printable(message)}${code === "NOT_FOUND" ? " clew approvals list tells what waits." : ""} [${printable(code)}]`,
    );
  return EXIT.failed;
}

/** Throws GATEWAY_UNREACHABLE. */
export async function approvalsLink({ json = false }: Asked, shell: Shell): Promise<number> {
  const { body } = await ask(shell, "/api/approvals/link");
  if (json) shell.output.json({ link: body.link });
  else shell.output.line(String(body.link));
  return EXIT.done;
}

/** A gateway answers at once. */
const ANSWER_MS = 10_000;

async function ask({ environment }: Shell, path: string, method = "GET"): Promise<OwnAnswer> {
  const { config } = await loadConfig(environment.configFile);
  const { home } = environment;
  const lookup = await findOwnGateway({ home, port: config.gateway.port });
  if (lookup.kind !== "running")
    throw new ContextEngineError(
      "GATEWAY_UNREACHABLE",
      `Nobody can be asked what waits: ${describeMissing(lookup)}; a chat asks in its own terminal.`,
    );
  const answer = await lookup.gateway.request(path, { method, timeoutMs: ANSWER_MS });
  if (answer === null)
    throw new ContextEngineError(
      "GATEWAY_UNREACHABLE",
      `${lookup.gateway.url} did not answer in time; see its log.`,
    );
  return answer;
}

function errorIn({ error }: OwnAnswer["body"]): { code: ErrorCode | string; message: string } {
  const { code, message } = isRecord(error) ? error : {};
  return { code: String(code), message: String(message ?? "the gateway did not say why") };
}
