// The errors for session names that are invalid or unknown.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { parseSessionName, type SessionName } from "./keys.ts";

/** Reads a session's name as `parseSessionName` does. Throws SESSION_NAME_INVALID. */
export function requireSessionName(text: string, agentId?: string): SessionName {
  const name = parseSessionName(text, agentId);
  if (name !== undefined) return name;
  throw new ContextEngineError(
    "SESSION_NAME_INVALID",
    `"${text}" is not a session name; use a short name such as "main", or agent:<agent>:<name>.`,
  );
}

/** `name` is what was asked for. */
export const sessionNotFound = (name: string): ContextEngineError =>
  new ContextEngineError(
    "SESSION_NOT_FOUND",
    `There is no session "${name}"; "clew sessions list" lists the existing ones.`,
  );
