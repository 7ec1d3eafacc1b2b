// Gives engines another chance in one session.
import type { Quarantine } from "../engine/quarantine.ts";
import type { TranscriptPort } from "../transcript-port.ts";
import { isBlocked } from "./delivery-ledger.ts";
import type { SessionState } from "./session-state.ts";

/** What somebody's request for another chance came to. */
export interface RetriedSession {
  /** Turns that will be offered again, by the id of their first message. */
  turns: readonly { engineId: string; turnId: string }[];
  /** Engines that are not set aside for this session any more. */
  engines: readonly string[];
}

/**
 * Takes back what engines were given up for in one session: the next turn offers them the turns
 * they had refused too often, and is answered by them. Not to be called while a turn of the session
 * runs. An engine that is set aside everywhere stays so.
 */
export async function retrySession({
  transcript,
  state,
  quarantine,
}: {
  /** Its session is meant. */
  transcript: TranscriptPort;
  /** Of the open session. Absent: nothing of it is in memory. */
  state?: SessionState;
  /** Of the registry. Absent: no engine has run yet. */
  quarantine?: Quarantine;
}): Promise<RetriedSession> {
  const { sessionKey } = transcript.session;
  const ledger = transcript.deliveries ?? state?.deliveries;
  const turns = (ledger?.engines() ?? []).flatMap((engineId) =>
    [...(ledger?.read(engineId)?.refused ?? [])]
      .filter(([, refusal]) => isBlocked(refusal, refusal.version))
      .map(([turnId]) => ({ engineId, turnId })),
  );
  for (const { engineId, turnId } of turns) await ledger?.save(engineId, { kind: "retry", turnId });
  const engines = (quarantine?.list() ?? [])
    .filter(({ scope }) => scope.kind === "session" && scope.sessionKey === sessionKey)
    .map(({ engineId }) => engineId);
  for (const engineId of engines) quarantine?.clear(engineId, sessionKey);
  if (state !== undefined) state.badViews = new WeakMap();
  return { turns, engines };
}
