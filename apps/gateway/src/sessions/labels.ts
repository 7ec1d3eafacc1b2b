// What people call sessions, which their agent's index keeps beside the key.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { changeIndex } from "./change-index.ts";
import { completeIndex, labelIn, readIndex, type SessionIndex } from "./index-file.ts";
import { parseSessionName, type SessionName, shortName } from "./keys.ts";
import { listAgents } from "./list-sessions.ts";
import { requireNewName, requireSessionName } from "./name-errors.ts";

const MOST_CHARACTERS = 100;

/** Pure. How people are told of a session. */
export const nameWithLabel = ({ key, label }: { key: string; label?: string | undefined }) =>
  label === undefined ? shortName(key) : `${shortName(key)} "${label}"`;

/**
 * What `text` names: a key or short name, else the session that is called so. What names none is
 * given back as it is.
 */
export async function sessionCalled(home: string, text: string): Promise<string> {
  const name = parseSessionName(text);
  if (name === undefined) return text;
  if (Object.hasOwn((await readIndex(home, name.agentId)) ?? {}, name.key)) return text;
  const isCanonical = name.key === text.trim();
  const agents = isCanonical ? [name.agentId] : await listAgents(home);
  for (const agent of agents.sort((one) => (one === name.agentId ? -1 : 1))) {
    const index = (await readIndex(home, agent)) ?? {};
    const called = Object.keys(index).find((key) => labelIn(index[key]) === name.name);
    if (called !== undefined) return called;
  }
  return text;
}

/** Pure. The same among sessions that are in no files. */
export function calledAmong(
  sessions: readonly { key: string; agentId: string; label?: string | undefined }[],
  text: string,
): string {
  const name = parseSessionName(text);
  if (name === undefined || sessions.some(({ key }) => key === name.key)) return text;
  const isCanonical = name.key === text.trim();
  const called = sessions.filter(({ label, agentId }) => {
    return label === name.name && (!isCanonical || agentId === name.agentId);
  });
  return (called.find(({ agentId }) => agentId === name.agentId) ?? called[0])?.key ?? text;
}

/**
 * Gives a session a name beside its key, or with null takes it away. False: there is no such
 * session. Throws REQUEST_INVALID for a name that another one has, or that is none.
 */
export async function labelSession(
  home: string,
  { agentId, key }: SessionName,
  label: string | null,
): Promise<boolean> {
  let isThere = true;
  await changeIndex(home, agentId, async (stored) => {
    const index = await completeIndex(home, agentId, stored);
    const entry = index[key];
    isThere = entry !== undefined;
    if (entry === undefined) return stored;
    if (label !== null) refuseTaken(index, key, label);
    const { label: _before, ...others } = entry as typeof entry & { label?: unknown };
    return { ...index, [key]: label === null ? others : { ...others, label } };
  });
  return isThere;
}

/** Pure. Throws REQUEST_INVALID. */
export function requireLabel(text: string): string {
  const label = text.trim();
  const { name } = requireSessionName(label);
  requireNewName({ name });
  if (name === label && label.length <= MOST_CHARACTERS) return label;
  throw new ContextEngineError(
    "REQUEST_INVALID",
    label.length > MOST_CHARACTERS
      ? `The name has ${label.length} characters, and may have ${MOST_CHARACTERS}.`
      : `"${label}" is the key of a session; choose a name without "agent:".`,
  );
}

const refuseTaken = (index: SessionIndex, key: string, label: string): void =>
  refuseTakenName(
    Object.keys(index).map((each) => ({ key: each, label: labelIn(index[each]) })),
    key,
    label,
  );

/** Pure. Throws REQUEST_INVALID where another session is called so. */
export function refuseTakenName(
  sessions: readonly { key: string; label?: string | null | undefined }[],
  key: string,
  wanted: string,
): void {
  const taken = sessions.find(
    (each) => each.key !== key && (shortName(each.key) === wanted || each.label === wanted),
  );
  if (taken !== undefined)
    throw new ContextEngineError(
      "REQUEST_INVALID",
      `Session "${shortName(taken.key)}" is called "${wanted}" already; choose another name.`,
    );
}
