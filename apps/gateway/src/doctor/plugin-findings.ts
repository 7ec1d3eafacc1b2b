// What the doctor reports about the engine and the plugins.
import type { PluginsConfig } from "@clew/plugin-sdk/host";
import { describeOtherEngine } from "../plugins/engines/engine-choice.ts";
import type { EngineStatus } from "../plugins/engines/engine-status.ts";
import { slotValue } from "../plugins/find/enablement.ts";
import { ofPlugin, type PluginRecord } from "../plugins/load/record.ts";
import { describeStrays } from "../plugins/strays.ts";
import { sessionWord, shortName } from "../sessions/keys.ts";
import { type SlotSources, slotFindings } from "./check-slots.ts";
import type { Finding, FindingCode } from "./finding.ts";

export function engineFindings(status: EngineStatus, records: readonly PluginRecord[]): Finding[] {
  return [
    answeringFinding(status, records),
    ...idFindings(status),
    ...setAsideFindings(status),
    ...recentFindings(status),
    ...storeFindings(status),
  ];
}

/** Of an agent that is not the default one; nothing where its engine is as for all. */
export function agentEngineFindings(
  status: EngineStatus,
  records: readonly PluginRecord[],
): Finding[] {
  const { agentId, chosenBy } = status;
  const own = chosenBy === "agent" ? [answeringFinding(status, records)] : [];
  return [
    ...own.map((finding) => ({ ...finding, subject: `engine of agent ${agentId}` })),
    ...storeFindings(status, agentId),
  ];
}

const engine = (level: Finding["level"], code: FindingCode, text: string): Finding => ({
  ...{ level, code, subject: "engine", text },
});

const REINSTALL = "correct or update its plugin, then run: clew plugins reload";

function answeringFinding(status: EngineStatus, records: readonly PluginRecord[]): Finding {
  const { engineId, configured, degraded, switchedOff, missingMessage } = status;
  if (degraded !== null) {
    const { operation, reason } = degraded;
    // Of the plugin it is told what it did, and what brings it back.
    const blocked = records.find((each) => each.safeMode && reason === ofPlugin(each));
    const why = blocked
      ? `its plugin "${blocked.id}" is off in safe mode`
      : `${operation}: ${withoutStop(reason)}`;
    const text = `"${configured}" does not work (${why}); "${engineId}" answers instead`;
    return engine("failure", "engine-failed", blocked ? text : `${text}; ${REINSTALL}`);
  }
  if (switchedOff !== null)
    return engine(
      "warning",
      "engine-switched-off",
      `"${configured}" is configured, but ${switchedOff}; "${engineId}" answers; clew plugins enable brings it back, or ${describeOtherEngine(status, engineId)} makes it the choice`,
    );
  return missingMessage === null
    ? engine("ok", "engine", about(status))
    : engine(
        "failure",
        "engine-host-lacks",
        `${missingMessage} No turn can start; choose another engine: ${describeOtherEngine(status, "legacy")}`,
      );
}

const withoutStop = (sentence: string) => sentence.replace(/\.$/, "");

function idFindings({ engineId, infoId, degraded }: EngineStatus): Finding[] {
  if (degraded !== null || infoId === engineId) return [];
  const text = `registered as "${engineId}", calls itself "${infoId}"; settings use the former`;
  return [engine("note", "engine-other-id", text)];
}

function setAsideFindings({ configured, quarantined }: EngineStatus): Finding[] {
  return quarantined
    .filter(({ engineId, scope }) => engineId !== configured || scope.kind === "session")
    .map(({ engineId, scope, operation, reason }) => {
      const isOfSession = scope.kind === "session";
      const where = isOfSession ? ` for session ${shortName(scope.sessionKey)}` : "";
      const next = isOfSession
        ? `another chance: clew engine retry ${sessionWord(scope.sessionKey)}`
        : REINSTALL;
      return engine(
        "warning",
        "engine-set-aside",
        `"${engineId}" has been set aside${where} because it failed in ${operation}: ${withoutStop(reason)}; ${next}`,
      );
    });
}

function recentFindings(status: EngineStatus): Finding[] {
  const { degraded, recent, configured, engineId } = status;
  const { turns, own, lastDegraded: last, compactions, idleCompactions } = recent;
  const failed = `${recent.degraded} of the last ${turns} turns were answered by another engine; last on ${last?.at}: ${last?.operation}: ${last?.reason}`;
  const { badViews, alignedViews, underEstimates } = recent;
  const name = `engine "${configured ?? engineId}"`;
  const author = whomToTell(status);
  const lately = `its last ${own} turns`;
  const idle = `${idleCompactions} of ${compactions} recent compactions of ${name} claimed success but changed nothing; ${author}`;
  const bad = `${name}: ${badViews} of ${lately} went without its choice, which no model could have been sent; ${author}`;
  const aligned = `${name}: in ${alignedViews} of ${lately} messages came back without their ids and were recognised by their content`;
  const under = `${name}: in ${underEstimates} of ${lately} it told fewer tokens than its messages can possibly take; ${author}`;
  return [
    ...(last !== null && degraded === null
      ? [engine("warning", "engine-failed-lately", failed)]
      : []),
    ...(idleCompactions > 0 ? [engine("warning", "engine-idle-compactions", idle)] : []),
    ...(badViews > 0 ? [engine("warning", "engine-bad-views", bad)] : []),
    ...(alignedViews > 0 ? [engine("note", "engine-aligned-views", aligned)] : []),
    ...(underEstimates > 0 ? [engine("warning", "engine-under-estimates", under)] : []),
  ];
}

/** The faults are those of the chosen engine, which need not be the one that answers now. */
function whomToTell({ configured, engineId, owner }: EngineStatus): string {
  if (configured !== null && configured !== engineId) return "tell its author";
  return owner.startsWith("plugin:")
    ? `tell the author of plugin ${owner.slice("plugin:".length)}`
    : "it comes with Clew, so this is a bug; please report it";
}

/** `agentId`: whose store it is, where it is not the default agent's. */
function storeFindings({ store }: EngineStatus, agentId?: string): Finding[] {
  if (store === null) return [];
  const subject = agentId === undefined ? "engine store" : `engine store of agent ${agentId}`;
  if (store.ok !== false) {
    const level = store.ok ? "ok" : "note";
    return [{ level, code: "engine-store", subject, text: store.text }];
  }
  const text = `${store.text.replace(/\.$/, "")}; keep a copy of the store before you change anything`;
  return [{ level: "failure", code: "engine-store-broken", subject, text }];
}

function about({
  engineId,
  version,
  configured,
  lifecycle,
  ownsCompaction,
  methods,
  owner,
}: EngineStatus): string {
  const from = owner.startsWith("plugin:") ? ` of plugin "${owner.slice("plugin:".length)}"` : "";
  const chosen = configured === null ? "default" : "configured";
  const has = methods.length > 0 ? `, has ${methods.join(", ")}` : "";
  return `${engineId}${version === null ? "" : ` ${version}`}${from} (${chosen}), ${lifecycle} lifecycle, ${ownsCompaction ? "compacts for itself" : "leaves compaction to the host"}${has}`;
}

export function pluginFindings(
  records: readonly PluginRecord[],
  plugins: PluginsConfig,
  slots: Omit<SlotSources, "records">,
): Finding[] {
  const findings = records.flatMap((record): Finding[] => {
    const subject = `plugin ${record.id}`;
    if (record.status === "error")
      return [
        {
          level: "failure",
          code: "plugin-failed",
          subject,
          text: record.reason ?? "broken",
        },
      ];
    // Of a gateway of an earlier version nothing is known.
    if (record.safeMode)
      return [
        { level: "failure", code: "plugin-safe-mode", subject, text: record.reason ?? "off" },
      ];
    if (record.status === "off")
      return [{ level: "note", code: "plugin-off", subject, text: `off: ${record.reason}` }];
    // A gateway of an earlier version tells only of those that the manifest names.
    const tools = record.registeredTools ?? record.tools;
    const what = [
      ...record.engines.map((id) => `engine ${id}`),
      ...(tools.length > 0 ? [`tools ${tools.join(", ")}`] : []),
      ...(record.commands[0] === undefined ? [] : [`command /${record.commands[0]}`]),
      ...(record.skills?.length > 0 ? [`skills ${record.skills.join(", ")}`] : []),
      ...(record.memory
        ? [`memory (${isMemoryOf(plugins, record.id) ? "chosen" : "not chosen"})`]
        : []),
    ];
    const where = record.isolation ? ", in a process of its own" : "";
    const text = `${record.version ?? "no version"}, ${record.origin}${where}${what.length > 0 ? `: ${what.join("; ")}` : ""}`;
    return [
      { level: "ok", code: "plugin", subject, text },
      ...record.diagnostics.map(
        ({ message }): Finding => ({
          ...{ level: "warning", code: "plugin-diagnostic", subject },
          text: message,
        }),
      ),
      ...memoryFindings(record, plugins),
      ...strayFindings(record),
    ];
  });
  return [...findings, ...slotFindings(plugins, { ...slots, records })];
}

const isMemoryOf = (plugins: PluginsConfig, id: string) => {
  const slot = slotValue(plugins, "memory");
  return slot === id || slot === id.split("/")[0];
};

/** The slot may name a plugin that does something else. */
function memoryFindings({ id, memory }: PluginRecord, plugins: PluginsConfig): Finding[] {
  if (memory || slotValue(plugins, "memory") !== id) return [];
  const text =
    "plugins.slots.memory names it, but it offers no memory, so nothing is remembered; choose another one, or none: clew config set plugins.slots.memory none";
  return [{ level: "warning", code: "plugin-no-memory", subject: `plugin ${id}`, text }];
}

/** A gateway of an earlier version does not tell of them. */
export function strayFindings(record: PluginRecord): Finding[] {
  const { id, strays, failedHooks, refused, changed, busy } = record;
  const next = "the gateway goes on, but tell the plugin's author";
  const warning = (code: FindingCode, text: string): Finding => ({
    ...{ level: "warning", code, subject: `plugin ${id}`, text: `${text}; ${next}` },
  });
  return [
    ...(strays ? [warning("plugin-stray-error", describeStrays(strays))] : []),
    ...(failedHooks ? [warning("plugin-hook-failed", describeStrays(failedHooks, "hook"))] : []),
    ...(refused ? [warning("plugin-refused", describeStrays(refused, "refused"))] : []),
    ...(changed ? [warning("plugin-changed-shared", describeStrays(changed, "changed"))] : []),
    ...(busy ? [warning("plugin-busy", describeStrays(busy, "busy"))] : []),
  ];
}
