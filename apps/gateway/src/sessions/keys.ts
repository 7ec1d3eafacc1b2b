// How a session is named on the outside.
import { shellWord } from "../text/shell-word.ts";

export const DEFAULT_AGENT_ID = "main";
export const DEFAULT_SESSION_NAME = "main";

export interface SessionName {
  agentId: string;
  /** What follows the agent in the key; may hold colons. */
  name: string;
  /** `agent:<agentId>:<name>`. */
  key: string;
}

/** Agent and session ids become file names, so only these pass. */
const SAFE_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

export function isSafeId(id: string): boolean {
  return SAFE_ID.test(id);
}

/**
 * Reads a canonical key, or a short name of the given agent ("main" → "agent:main:main").
 * Undefined when it names no session: blank, over 256 characters, control characters, half of a
 * character, or an agent id that is no file name.
 */
export function parseSessionName(
  text: string,
  agentId: string = DEFAULT_AGENT_ID,
): SessionName | undefined {
  const trimmed = text.trim();
  const canonical = /^agent:([^:]+):(.+)$/s.exec(trimmed);
  const agent = canonical?.[1] ?? agentId;
  const name = canonical?.[2] ?? trimmed;
  const startsLikeAKey = canonical === null && trimmed.startsWith("agent:");
  if (
    name === "" ||
    name.length > 256 ||
    /[\u0000-\u001f\u007f]/.test(name) ||
    !name.isWellFormed() ||
    startsLikeAKey ||
    !isSafeId(agent)
  )
    return undefined;
  return { agentId: agent, name, key: `agent:${agent}:${name}` };
}

/** The short form for people: the key without its default agent. */
export function shortName(key: string): string {
  const prefix = `agent:${DEFAULT_AGENT_ID}:`;
  return key.startsWith(prefix) ? key.slice(prefix.length) : key;
}

/** The short form for a command that people copy; one like a flag is written in full. */
export function sessionWord(key: string): string {
  const short = shortName(key);
  return shellWord(short.startsWith("-") ? key : short);
}

/** Whether lists can show the name as it is: what is reordered or not seen looks like another. */
export const isShownAsIs = (name: string): boolean =>
  !/[\u0080-\u009f\u202a-\u202e\u2066-\u2069]/.test(name);

/**
 * The key of a transcript its session moved on from: the session's, and when the transcript was
 * begun (ISO 8601), e.g. "agent:main:main.20260301-080000".
 */
export function archivedKey(key: string, begunAt: string): string {
  const digits = begunAt.replace(/\D/g, "");
  return `${key}.${digits.slice(0, 8)}-${digits.slice(8, 14)}`;
}

const ARCHIVED = /\.\d{8}-\d{6}(?:-\d+)?$/;

export const isArchivedKey = (key: string): boolean => ARCHIVED.test(key);

/** What the session of such a key is called, and was called then; any other key as it is. */
export const keyBefore = (key: string): string => key.replace(ARCHIVED, "");
