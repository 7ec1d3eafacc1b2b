// What an approval is, from who asks for what to how it ended.
import type { HostSession } from "@clew/engine-core";
import { shortName } from "../sessions/keys.ts";
import { number } from "../text/number.ts";

/** Whose tool it is; all of them ask in the same queue. */
export interface Asker {
  /** "tool": the gateway's own. */
  kind: "tool" | "plugin" | "harness" | "mcp";
  /** Of the plugin, harness or server; "gateway" for its own tools. */
  id: string;
}

export const ASK_ANSWERS = ["once", "session", "no"] as const;
/** "session": from now on without a question, until the session gets a new transcript. */
export type ApprovalAnswer = (typeof ASK_ANSWERS)[number];

/** Where an answer came from. */
export type AnsweredAt = "terminal" | "chat" | "page" | "http" | "command" | "editor";

/** What is asked. */
export interface ApprovalRequest {
  asker: Asker;
  session: Pick<HostSession, "agentId" | "sessionKey">;
  /** Of the tool. */
  name: string;
  /** What it would be called with, whole. */
  arguments: Record<string, unknown>;
  /** What the answer "session" allows from now on. Absent: any call of the tool. */
  grant?: string | undefined;
  /** Of the model's call. Absent: it is not one. */
  callId?: string | undefined;
}

/** Where a session stands among those that start others. */
export interface Lineage {
  /** Keys of the sessions from which it comes, nearest first; empty = nobody started it. */
  above: readonly string[];
  /** What the session that started it calls it; null = nothing. */
  label: string | null;
}

/** A question that waits for an answer. */
export interface Approval extends Lineage {
  id: string;
  asker: Asker;
  agentId: string;
  sessionKey: string;
  name: string;
  arguments: Record<string, unknown>;
  /** Of the model's call. Absent: it is not one. */
  callId?: string;
  /** What the answer "session" allows, in words. */
  grants: string;
  /** ISO 8601. */
  askedAt: string;
  /** ISO 8601; from then on the answer is no. */
  expiresAt: string;
}

/** How a question ended. */
export type ApprovalEnd =
  | { kind: "answered"; answer: ApprovalAnswer; at: AnsweredAt }
  /** Allowed in this session before. */
  | { kind: "remembered" }
  | { kind: "expired"; afterMs: number }
  /** The turn was stopped while it waited. */
  | { kind: "withdrawn" }
  /** Nobody could be asked; `why`: the only place where a person might be cannot ask. */
  | { kind: "nobody"; why?: string }
  /** Nobody is asked: the session only reads, by its mode. */
  | { kind: "read-only" };

/** Pure. */
export const isAllowed = (end: ApprovalEnd): boolean =>
  end.kind === "remembered" || (end.kind === "answered" && end.answer !== "no");

const PLACES: Record<AnsweredAt, string> = {
  terminal: "at the terminal",
  chat: "in the chat",
  page: "on the page",
  http: "over HTTP",
  command: 'with "clew approvals"',
  editor: "in the editor",
};

/** Pure. For the turn report and for whoever answers too late. */
export function describeEnd(end: ApprovalEnd): string {
  switch (end.kind) {
    case "answered":
      return end.answer === "no"
        ? `refused ${PLACES[end.at]}`
        : `allowed ${end.answer === "once" ? "once" : "for this session"} ${PLACES[end.at]}`;
    case "remembered":
      return "allowed for this session before";
    case "expired":
      return `nobody answered within ${number(end.afterMs)} ms (tools.approval.expireMs)`;
    case "withdrawn":
      return "the turn was stopped before anybody answered";
    case "nobody":
      return end.why === undefined ? "nobody is there to ask" : `nobody could be asked: ${end.why}`;
    case "read-only":
      return "the session is in the mode that only reads";
  }
}

/** Pure. What a model is told of a call that was not allowed. */
export function describeRefusal(name: string, end: ApprovalEnd): string {
  const why = end.kind === "answered" ? `a person ${describeEnd(end)}` : describeEnd(end);
  return end.kind === "answered"
    ? `${name} was not run: ${why.replace("person refused", "person refused it")}.`
    : `${name} was not run: it needs a person's approval, and ${why}.`;
}

/** Pure. True: whoever talks to the session waits for the answer, too. */
export const concerns = ({ sessionKey, above }: Approval, key: string): boolean =>
  sessionKey === key || above.includes(key);

/** Pure. The session that asks, and which one started it. */
export function describeSession({
  sessionKey,
  label,
  above: [parent],
}: Pick<Approval, "sessionKey" | "label" | "above">): string {
  const about = [
    ...(label === null ? [] : [`"${label}"`]),
    ...(parent === undefined ? [] : [`started by ${shortName(parent)}`]),
  ];
  return `${shortName(sessionKey)}${about.length === 0 ? "" : ` (${about.join(", ")})`}`;
}

/** Pure. Who asks, as half a sentence. */
export function describeAsker({ kind, id }: Asker): string {
  if (kind === "tool") return "the gateway";
  return `${ASKERS[kind]} "${id}"`;
}

const ASKERS = { plugin: "plugin", harness: "harness", mcp: "MCP server" };
