// Carries out one effect of a turn.
import { settleMaintenance } from "../../session/maintenance-lane.ts";
import type { Ask, Tell } from "../effects.ts";
import type { Answer } from "../facts.ts";
import type { TurnEvent } from "../turn-request.ts";
import { compact } from "./compact.ts";
import { compose } from "./compose.ts";
import { assemble, bootstrap, deliver } from "./engine.ts";
import { awaitExecution, beginExecution } from "./execute.ts";
import { askHooks, tellHook } from "./hooks.ts";
import { maintain } from "./maintenance.ts";
import { callModel } from "./model.ts";
import { runTool } from "./tool.ts";
import { adopt, append, cutResults, read, record, survey } from "./transcript.ts";
import type { World } from "./world.ts";

/** Views of one engine that could not be used, after which it is set aside. */
const MAX_BAD_VIEWS = 3;

/** Throws what the store throws, aborts, and failures of a strict engine. */
export async function perform(world: World, ask: Ask): Promise<Answer> {
  switch (ask.do) {
    case "settle": {
      const { state, setup, signal } = world;
      await settleMaintenance(state.maintenance, setup.settings.maintenanceWaitMs, signal);
      return { type: "settled" };
    }
    case "survey":
      return survey(world);
    case "bootstrap":
      return bootstrap(world);
    case "maintain":
      return maintain(world, ask);
    case "deliver":
      return deliver(world, ask);
    case "record":
      return record(world, ask);
    case "append":
      return append(world, ask);
    case "read":
      return read(world, ask);
    case "assemble":
      return assemble(world, ask);
    case "ask-hooks":
      return askHooks(world, ask);
    case "compose":
      return compose(world, ask);
    case "call-model":
      return callModel(world, ask);
    case "begin-execution":
      return beginExecution(world, ask);
    case "await-execution":
      return awaitExecution(world, ask);
    case "run-tool":
      return runTool(world, ask);
    case "listen":
      return { type: "listened", said: world.request.saidMeanwhile?.() ?? [] };
    case "cut-results":
      return cutResults(world, ask);
    case "tell-before":
      return tellHook(world, "beforeCompaction", ask.event);
    case "compact":
      return compact(world, ask);
    case "adopt":
      return adopt(world, ask);
    case "tell-after":
      return tellHook(world, "afterCompaction", ask.event);
  }
}

export function tell(world: World, effect: Tell): void {
  const { state, request, ports, engine } = world;
  switch (effect.do) {
    case "emit":
      request.onEvent?.(shown(world, effect.event));
      return;
    case "log":
      ports.log[effect.level](effect.message, effect.fields);
      return;
    case "forget-measurement":
      state.measurement = undefined;
      return;
    case "set-aside":
      engine.setAside(effect.failure);
      return;
    case "readmit":
      engine.readmit();
      return;
    case "bad-view": {
      const { guard } = request.engine;
      const count = (state.badViews.get(guard) ?? 0) + 1;
      state.badViews.set(guard, count);
      ports.log.warn(`context engine "${guard.engineId}": ${effect.failure.reason}`);
      if (count >= MAX_BAD_VIEWS)
        engine.reportFailure(effect.failure.operation, effect.failure.reason);
    }
  }
}

/** A listener gets what cannot be changed: what it writes must not reach the transcript. */
const shown = ({ state }: World, event: TurnEvent): TurnEvent =>
  event.type === "message" ? { ...event, message: state.table.canonical(event.message) } : event;
