// Asks the running gateway of a home about the turn that a session's files do not hold yet.
import { findOwnGateway } from "../../gateway-client.ts";
import type { TurnUnderWay } from "../../inspect/session-source.ts";

const ANSWER_MS = 10_000;

export interface RunningTurn {
  /** Undefined: none is under way, or nobody can tell. */
  turn: TurnUnderWay | undefined;
  /** Why a gateway that runs could not be asked; undefined = it was, or there is none. */
  trouble: string | undefined;
}

export async function findRunningTurn(home: string, key: string): Promise<RunningTurn> {
  // Who else may answer on the port that is set does not matter here.
  const found = await findOwnGateway({ home, port: 0 });
  if (found.kind === "silent") return { turn: undefined, trouble: NOT_ASKED };
  if (found.kind !== "running") return { turn: undefined, trouble: undefined };
  const path = `/api/sessions/${encodeURIComponent(key)}/turn`;
  const answer = await found.gateway.request(path, { timeoutMs: ANSWER_MS });
  if (answer === null || answer.status >= 500) return { turn: undefined, trouble: NOT_ASKED };
  const { underWay } = answer.body as { underWay?: TurnUnderWay | null };
  return { turn: underWay ?? undefined, trouble: undefined };
}

const NOT_ASKED =
  "The running gateway did not answer, so calls of a turn that is under way are not among these.";
