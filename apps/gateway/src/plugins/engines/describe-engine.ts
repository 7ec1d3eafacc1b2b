// Puts what is known about an engine into lines for people.
import { counted } from "../../text/number.ts";
import type { PluginHost } from "../host.ts";
import { describeStrays } from "../strays.ts";
import { describeChooser } from "./engine-choice.ts";
import type { EngineStatus, SessionEngine } from "./engine-status.ts";

/**
 * What is wrong with the plugin of the chosen engine, where it is not told as the reason why that
 * one does not run; null when nothing is, or nobody knows whose the engine is.
 */
export function pluginProblem(
  { configured, degraded }: EngineStatus,
  plugins: PluginHost | undefined,
): string | null {
  if (configured === null || plugins === undefined) return null;
  const owner = plugins.ownerOf(configured) ?? configured;
  const record = plugins.records().find(({ id }) => id === owner);
  if (record?.status === "error") return degraded?.operation === "resolve" ? null : record.reason;
  if (record?.strays) return `${describeStrays(record.strays)}.`;
  if (record?.refused) return `${describeStrays(record.refused, "refused")}.`;
  return record?.changed ? `${describeStrays(record.changed, "changed")}.` : null;
}

/** Pure. The answer to `/engine`. */
export function describeEngine(status: EngineStatus, problem: string | null = null): string {
  const { engineId, infoId, name, version, owner, degraded, switchedOff } = status;
  const own = infoId === engineId ? "" : `, calls itself "${infoId}"`;
  const from = owner.startsWith("plugin:") ? `, of plugin "${owner.slice("plugin:".length)}"` : "";
  const lines = [
    `Engine: ${engineId} (${name}${version === null ? "" : ` ${version}`}${own}${from})`,
    `Chosen by: ${describeChoice(status)}`,
  ];
  if (switchedOff !== null) lines.push(`The chosen one does not run: ${switchedOff}.`);
  if (degraded !== null)
    lines.push(
      `The chosen one does not run${isSetAsideHere(status) ? " in this session" : ""}: it failed (${degraded.operation}: ${degraded.reason}).`,
    );
  if (problem !== null) lines.push(`Its plugin: ${problem}`);
  lines.push(
    `Lifecycle: ${status.lifecycle}; ${status.ownsCompaction ? "compacts for itself" : "leaves compaction to the host"}; has ${status.methods.join(", ") || "no optional methods"}`,
    ...describeDeliveries(status.session),
    ...describeRecent(status),
  );
  if (status.store !== null)
    lines.push(`Store: ${status.store.ok === false ? "PROBLEM: " : ""}${status.store.text}`);
  if (isSetAsideHere(status) || (status.session?.deliveries.blocked.length ?? 0) > 0)
    lines.push('"/engine retry" gives it another chance in this session.');
  return lines.join("\n");
}

function describeChoice({ configured, chosenBy, agentId }: EngineStatus): string {
  const chooser = describeChooser(chosenBy, agentId);
  return chooser === undefined
    ? "default, plugins.slots.contextEngine is not set"
    : `${chooser} = ${configured ?? "none"}`;
}

const isSetAsideHere = ({ session }: EngineStatus) => session !== null && session.setAside !== null;

function describeDeliveries(session: SessionEngine | null): string[] {
  if (session === null) return [];
  const { pending, blocked } = session.deliveries;
  const last = blocked.at(-1);
  return [
    ...(pending > 0
      ? [
          `Of this session, ${counted(pending, "turn")} ${pending === 1 ? "is" : "are"} still to be handed to it`,
        ]
      : []),
    ...(last === undefined
      ? []
      : [
          `Parked: ${counted(blocked.length, "turn")} of this session that it refused too often (${last.reason})`,
        ]),
  ];
}

/** Another agent has turns of its own. */
function describeRecent({ agentId, recent }: EngineStatus): string[] {
  const { turns, lastDegraded, badViews, alignedViews, underEstimates } = recent;
  const odd = [
    ...(badViews > 0 ? [`went without its choice in ${badViews}`] : []),
    ...(alignedViews > 0 ? [`recognised messages by their content in ${alignedViews}`] : []),
    ...(underEstimates > 0 ? [`was told too few tokens in ${underEstimates}`] : []),
  ];
  return [
    turns === 0
      ? `No turn of agent "${agentId}" was run yet, or none has a report`
      : `Last ${counted(turns, "turn")} of agent "${agentId}", in its newest sessions: ${recent.degraded} answered by another engine, ${counted(recent.compactions, "compaction")}, of which ${recent.idleCompactions} without effect`,
    ...(odd.length > 0 ? [`Of these turns, the host ${odd.join(", ")}`] : []),
    ...(lastDegraded === null
      ? []
      : [
          `Last failure: "${lastDegraded.engineId}", ${lastDegraded.at} (${lastDegraded.operation}: ${lastDegraded.reason}); "/engine retry" gives it another chance in a session, "clew plugins reload" in all`,
        ]),
  ];
}
