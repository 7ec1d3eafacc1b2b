// Lets the engine tidy up, with the reply waiting for it or behind it.
import { type ContextEngine, isAbort } from "@clew/plugin-sdk/core";
import { describeError } from "../../engine/quarantine.ts";
import { requestMaintenance } from "../../session/maintenance-lane.ts";
import { readBranch } from "../../session/session-state.ts";
import { delegatedCompaction } from "../delegated-compaction.ts";
import type { Ask, MaintenanceReason } from "../effects.ts";
import type { Answer } from "../facts.ts";
import { hostParams } from "./engine-params.ts";
import { sessionFileOf, sessionOf, throwIfFatal, type World } from "./world.ts";

/**
 * A failure is logged and changes nothing else (contract §3.3). Only maintenance after a turn
 * may run in the background.
 */
export async function maintain(
  world: World,
  { reason }: Extract<Ask, { do: "maintain" }>,
): Promise<Extract<Answer, { type: "maintained" }>> {
  if (reason === "turn" && world.engine.info.turnMaintenanceMode === "background")
    startInBackground(world);
  else await tidy(world, world.engine, reason, world.signal);
  return { type: "maintained", reason };
}

function startInBackground(world: World): void {
  const { request, ports, state } = world;
  requestMaintenance(state.maintenance, async (signal) => {
    // A scope of its own: the turn, its report and its signal are over.
    const { sessionKey } = sessionOf(world);
    const lent = { signal, sessionKey, ...delegatedCompaction(ports) };
    const engine = request.engine.guard.enter(lent);
    try {
      await readBranch(state, world.transcript);
      await tidy({ ...world, signal, occurred: () => {} }, engine, "turn", signal, true);
    } catch (error) {
      ports.log.warn(`deferred context engine maintenance ended: ${describeError(error)}`);
    } finally {
      engine.release();
    }
  });
}

async function tidy(
  world: World,
  engine: ContextEngine,
  reason: MaintenanceReason,
  signal: AbortSignal,
  background = false,
): Promise<void> {
  const { ports } = world;
  const { sessionKey } = sessionOf(world);
  const phase = reason === "bootstrap" ? "before-turn" : "after-turn";
  try {
    const result = await engine.maintain?.({
      ...hostParams(world, phase, {
        background,
        llmPurpose: `context-engine.${reason}.maintenance`,
      }),
      ...sessionFileOf(world),
      abortSignal: signal,
    });
    if (result?.changed)
      ports.log.info(
        `[context-engine] maintenance(${reason}) changed transcript rewrittenEntries=${result.rewrittenEntries} ` +
          `bytesFreed=${result.bytesFreed} sessionKey=${sessionKey}`,
      );
  } catch (error) {
    if (background) {
      if (signal.aborted && isAbort(error, signal)) throw error;
    } else throwIfFatal(world, error);
    const what = background
      ? "deferred context engine maintenance failed"
      : `context engine maintain failed (${reason})`;
    ports.log.warn(`${what}: ${describeError(error)}`);
  }
}
