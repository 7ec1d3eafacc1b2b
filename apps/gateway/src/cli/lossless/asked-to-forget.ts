// Reads from what was typed what is to be forgotten.
import { type ForgetRequest, textPattern } from "@clew/lossless-engine/store";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { Asked } from "../../forget/plan-home.ts";
import type { SessionName } from "../../sessions/keys.ts";
import { requireSessionName } from "../../sessions/name-errors.ts";

/** What `clew lossless forget` is given. */
export interface ForgetOptions {
  text?: string;
  pattern?: string;
  session?: string;
  agent?: string;
  yes?: boolean;
  /** False: backups of the databases stay. */
  backups?: boolean;
  resume?: boolean;
  json?: boolean;
}

/** Throws REQUEST_INVALID. */
export function refuseMore(
  message: string | undefined,
  { text, pattern, session }: ForgetOptions,
): void {
  if ([message, text, pattern, session].some((each) => each !== undefined))
    throw new ContextEngineError(
      "REQUEST_INVALID",
      "--resume ends what was asked for before, and takes nothing to forget; run it alone, then ask for the rest.",
    );
}

/** Throws REQUEST_INVALID where not one thing is asked for. */
export function askedFor(
  message: string | undefined,
  { text, pattern, session, agent }: ForgetOptions,
): Asked {
  const given = [message, text, pattern, session].filter((each) => each !== undefined);
  if (given.length !== 1 || given[0]!.trim() === "")
    throw new ContextEngineError(
      "REQUEST_INVALID",
      'Say one thing to forget: a message (its number, "#12", or its id), --text, --pattern or --session; clew lossless forget --help tells more.',
    );
  if (text !== undefined) return { kind: "text", matcher: text };
  if (pattern !== undefined) return { kind: "text", matcher: textPattern(pattern) };
  if (session !== undefined) return { kind: "session", name: sessionOf(session, agent) };
  return { kind: "message", request: messageNamed(message!) };
}

function sessionOf(session: string, agent: string | undefined): SessionName {
  const name = requireSessionName(session, agent);
  if (agent === undefined || agent === name.agentId) return name;
  throw new ContextEngineError(
    "REQUEST_INVALID",
    `${session} is a session of ${name.agentId}, not of ${agent}; leave --agent out, or name another session.`,
  );
}

/** By its number, "#12", or by its id. */
const messageNamed = (name: string): ForgetRequest =>
  /^#\d{1,15}$/.test(name) ? { number: Number(name.slice(1)) } : { id: name };
