// Runs one turn from the person's message to the model's reply.
import { assertHostSupport, hostOf } from "../engine/host-support.ts";
import { FALLBACK_ENGINE_ID } from "../engine/registry.ts";
import { withSession } from "../session/session-lock.ts";
import type { Fact } from "./facts.ts";
import { openTurn } from "./open-turn.ts";
import { planTurn } from "./order.ts";
import { partsOf, reportOf } from "./report-of.ts";
import { runEffects } from "./run-effects.ts";
import { newTurn } from "./turn.ts";
import type { TurnRequest, TurnResult } from "./turn-request.ts";

/**
 * Everything that happened is in the report (contract §3). What a model, tool or engine did wrong
 * is in the result; throws only HOST_CAPABILITY_MISSING and SESSION_LOCKED, before anything ran.
 * Turns of one session run one after the other.
 */
export async function runTurn(request: TurnRequest): Promise<TurnResult> {
  if (request.engine.guard.engineId !== FALLBACK_ENGINE_ID)
    assertHostSupport(request.engine.guard.info(), "agent-run", hostOf(request.ports));
  const { sessionKey } = request.ports.transcript.session;
  return withSession(request.state.lock, { whenBusy: request.whenBusy, sessionKey }, () =>
    run(request),
  );
}

async function run(request: TurnRequest): Promise<TurnResult> {
  const { setup, signal, open } = openTurn(request, "turn");
  const opened = newTurn(setup, planTurn(setup));
  const { turn, facts, close } = await runEffects(opened, open, { signal });
  const { clock } = request.ports;
  const all: readonly Fact[] = [
    ...facts,
    { type: "closed", ms: clock.monotonic() - setup.startedMonotonic },
  ];
  const report = reportOf(turn, all);
  const parts = partsOf(all);
  await close({ report, parts });
  const reply = turn.error === null ? turn.reply : null;
  return { outcome: report.outcome, reply, error: turn.error, report, parts };
}
