// Asks an engine how its own store is.
import type { EngineGuard } from "@clew/engine-core";
import { within } from "@clew/plugin-sdk/host";
import { toJson } from "../../own-json.ts";
import { readDeliveries } from "../../sessions/deliveries.ts";
import { deliveriesFile } from "../../sessions/paths.ts";
import { createSessionList } from "../../sessions/session-list.ts";
import { messageOf } from "../invalid.ts";

export interface StoreAnswer {
  /** Null = there was no session to ask for, so it was not asked. */
  ok: boolean | null;
  /** For people. */
  text: string;
}

/** A session that an engine was told of. */
export interface ToldSession {
  agentId: string;
  sessionId: string;
  sessionKey: string;
}

const ANSWER_MS = 5000;

/** An engine need not keep every session that it is told of. */
const MOST_ASKED = 3;
const MOST_LOOKED_AT = 20;

/**
 * Engines may offer `control({ operation: "doctor" })`; not part of the contract, so nothing is
 * made of a failure but its text. One that says what its controls are (`getControlCapabilities`)
 * answers for a session, and is not asked for an operation that it does not name, nor before it
 * knows a session. Null = it offers nothing.
 */
export async function askStore(
  guard: Pick<EngineGuard, "extension">,
  sessionsTold: () => Promise<readonly ToldSession[]>,
): Promise<StoreAnswer | null> {
  const control = guard.extension("control");
  if (control === undefined) return null;
  const capabilities = guard.extension("getControlCapabilities");
  const operations = capabilities && (await operationsOf(capabilities));
  if (operations !== undefined && operations !== null && !operations.includes("doctor"))
    return null;
  const sessions = await sessionsTold();
  if (capabilities !== undefined && sessions.length === 0)
    return { ok: null, text: "not asked, because it knows no session yet" };
  const answers: StoreAnswer[] = [];
  for (const session of sessions.length === 0 ? [{}] : sessions.slice(0, MOST_ASKED)) {
    const answer = await askOnce(control, session);
    if (answer.ok) return answer;
    answers.push(answer);
  }
  return answers[0]!;
}

async function askOnce(
  control: (request: object) => unknown,
  session: Partial<ToldSession>,
): Promise<StoreAnswer> {
  try {
    const answer = (await bounded(() => control({ operation: "doctor", ...session }))) as
      | { ok?: unknown; text?: unknown }
      | undefined;
    const text = typeof answer?.text === "string" ? answer.text : toJson(answer ?? null);
    return { ok: answer?.ok !== false, text: text.slice(0, 500) };
  } catch (error) {
    return { ok: false, text: messageOf(error) };
  }
}

/** Null where it cannot be understood: it may have all of them. */
async function operationsOf(capabilities: () => unknown): Promise<readonly unknown[] | null> {
  try {
    const told = (await bounded(capabilities)) as { operations?: unknown } | undefined;
    return Array.isArray(told?.operations) ? told.operations : null;
  } catch {
    return null;
  }
}

function bounded(call: () => unknown): Promise<unknown> {
  const onTimeout = () => {
    throw new Error(`no answer within ${ANSWER_MS / 1000} s`);
  };
  return within<unknown>({ boundMs: ANSWER_MS, onTimeout }, call);
}

/** The sessions of an agent that an engine was told of, the newest first, the named one before. */
export async function sessionsToldTo(
  engineId: string,
  { home, agentId, named }: { home: string; agentId: string; named: string | undefined },
): Promise<ToldSession[]> {
  const all = (await createSessionList(home).all()).filter(
    (session) => session.agentId === agentId,
  );
  const ordered = [
    ...all.filter(({ key }) => key === named),
    ...all.filter(({ key }) => key !== named).slice(0, MOST_LOOKED_AT),
  ];
  const told = await Promise.all(
    ordered.map(async ({ sessionId }) => {
      const deliveries = await readDeliveries(deliveriesFile(home, agentId, sessionId));
      return deliveries.read(engineId) !== undefined;
    }),
  );
  return ordered
    .filter((_, index) => told[index])
    .map(({ key, sessionId }) => ({ agentId, sessionId, sessionKey: key }));
}
