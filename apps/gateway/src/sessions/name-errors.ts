// The errors for session names that are invalid or unknown.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { nearestName } from "../text/nearest.ts";
import { visible } from "../text/visible.ts";
import { isShownAsIs, parseSessionName, type SessionName, shortName } from "./keys.ts";

/** Reads a session's name as `parseSessionName` does. Throws SESSION_NAME_INVALID. */
export function requireSessionName(text: string, agentId?: string): SessionName {
  const name = parseSessionName(text, agentId);
  if (name !== undefined) return name;
  throw new ContextEngineError(
    "SESSION_NAME_INVALID",
    `"${text}" is not a session name; use a short name such as "main", or agent:<agent>:<name>.`,
  );
}

/** Of a session that is about to be made. Throws SESSION_NAME_INVALID. */
export function requireNewName({ name }: Pick<SessionName, "name">): void {
  if (isShownAsIs(name)) return;
  throw new ContextEngineError(
    "SESSION_NAME_INVALID",
    `"${visible(name)}" holds characters that are not seen or change the order of others, so it would look like another name in lists; leave them out.`,
  );
}

/** `name` is what was asked for, `known` the keys among which it may be meant. */
export const sessionNotFound = (name: string, known: readonly string[] = []): ContextEngineError =>
  new ContextEngineError(
    "SESSION_NOT_FOUND",
    `There is no session "${name}";${guessed(name, known)} "clew sessions list" lists the existing ones.`,
  );

function guessed(name: string, known: readonly string[]): string {
  const names = name.startsWith("agent:") ? known : known.map(shortName);
  const nearest = nearestName(name, names);
  return nearest === null ? "" : ` did you mean "${nearest}"?`;
}
