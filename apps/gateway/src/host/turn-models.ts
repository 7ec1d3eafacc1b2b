// Which models a turn and its compactions ask, and on whose account.
import { type ModelPort, pluginOf, type SideCallReport } from "@clew/engine-core";
import type { ModelRef } from "@clew/plugin-sdk/host";
import { chooseSummaryModel } from "../compaction/built-in.ts";
import type { CostSubject } from "../costs/meter.ts";
import { LOCAL_API, OFFLINE_MODEL } from "../models/resolve.ts";
import type { TurnSetup } from "./host.ts";
import { agentOf, type HostParts } from "./parts.ts";

export interface MeteredPorts {
  turn: ModelPort;
  compaction: ModelPort;
  /** Takes note of a plugin's model call. */
  sideCall: (call: Omit<SideCallReport, "afterCalls">) => void;
}

/** Everything that asks a model is counted, but for recordings, which ask none. */
export function meteredPorts(
  { models, costs }: HostParts,
  { transcript, replacement, purpose, onSideCall, onEvent }: TurnSetup,
  { engineId, owner }: { engineId: string; owner: string },
  /** Another one than the turn began with, once that failed. */
  answering: () => string,
): MeteredPorts {
  const { port } = models;
  let afterCalls = 0;
  const sideCall: MeteredPorts["sideCall"] = (call) => onSideCall?.({ ...call, afterCalls });
  if (costs === undefined || replacement !== undefined)
    return { turn: port, compaction: port, sideCall };
  const { agentId, sessionKey } = transcript.session;
  const byHost: CostSubject = {
    ...{ agentId, sessionKey, plugin: null },
    get engine() {
      return answering();
    },
  };
  const told = {
    tell: sideCall,
    notice: (text: string) => onEvent?.({ type: "notice", text }),
  };
  const byEngine = { agentId, sessionKey, engine: engineId, plugin: pluginOf(owner) ?? null };
  const replies = costs.meter(port, byHost, { ...told, for: purpose ?? "reply" });
  const ofEngine = costs.meter(port, byEngine, { ...told, for: "engine" });
  return {
    turn: {
      ...ofEngine,
      stream(call) {
        afterCalls++;
        return replies.stream(call);
      },
    },
    compaction: costs.meter(port, byHost, { ...told, for: "compaction" }),
    sideCall,
  };
}

export function compactionModels(
  parts: HostParts,
  { replacement, transcript, model: asked }: TurnSetup & { model: ModelPort },
  sessionModel: ModelRef,
) {
  const { models, log } = parts;
  const { agentId } = transcript.session;
  const configured = agentOf(parts, agentId).compaction.model;
  const model = replacement?.summaries?.(asked) ?? asked;
  // A recording stands in for its model only: nobody else is asked over the network.
  const summaryModel =
    replacement === undefined
      ? chooseSummaryModel({ configured, sessionModel, model, log })
      : models.named(OFFLINE_MODEL).model;
  // The offline model only quotes: it adds nothing to the record, unless somebody wants it to.
  const asksForProse =
    configured !== undefined ||
    replacement?.summaries !== undefined ||
    summaryModel.api !== LOCAL_API;
  return { model, sessionModel, summaryModel, asksForProse };
}
