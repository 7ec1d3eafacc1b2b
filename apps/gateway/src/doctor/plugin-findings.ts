// What the doctor reports about the engine and the plugins.
import type { PluginsConfig } from "@clew/plugin-sdk/host";
import type { EngineStatus } from "../plugins/engines/engine-status.ts";
import { slotValue } from "../plugins/find/enablement.ts";
import type { PluginRecord } from "../plugins/load/record.ts";
import type { Finding, FindingCode } from "./finding.ts";

export function engineFindings(status: EngineStatus): Finding[] {
  const {
    engineId,
    infoId,
    configured,
    degraded,
    switchedOff,
    owner,
    recent,
    missingMessage,
    store,
    quarantined,
  } = status;
  const findings: Finding[] = [];
  const add = (level: Finding["level"], code: FindingCode, text: string) =>
    void findings.push({ level, code, subject: "engine", text });
  const reinstall = "correct or update its plugin, then run: clew plugins reload";
  if (degraded !== null)
    add(
      "failure",
      "engine-failed",
      `"${configured}" does not work (${degraded.operation}: ${degraded.reason}); "${engineId}" answers instead; ${reinstall}`,
    );
  else if (switchedOff !== null)
    add(
      "warning",
      "engine-switched-off",
      `"${configured}" is configured, but ${switchedOff}; "${engineId}" answers; clew plugins enable brings it back, or clew config set plugins.slots.contextEngine ${engineId} makes it the choice`,
    );
  else if (missingMessage !== null)
    add(
      "failure",
      "engine-host-lacks",
      `${missingMessage} No turn can start; choose another engine: clew config set plugins.slots.contextEngine legacy`,
    );
  else add("ok", "engine", about(status));
  if (degraded === null && infoId !== engineId)
    add(
      "note",
      "engine-other-id",
      `registered as "${engineId}", calls itself "${infoId}"; settings use the former`,
    );
  for (const { engineId: aside, operation, reason } of quarantined)
    if (aside !== configured)
      add(
        "warning",
        "engine-set-aside",
        `"${aside}" has been set aside because it failed in ${operation}: ${reason}; ${reinstall}`,
      );
  if (recent.lastDegraded !== null && degraded === null)
    add(
      "warning",
      "engine-failed-lately",
      `${recent.degraded} of the last ${recent.turns} turns were answered by another engine; last on ${recent.lastDegraded.at}: ${recent.lastDegraded.operation}: ${recent.lastDegraded.reason}`,
    );
  if (recent.idleCompactions > 0)
    add(
      "warning",
      "engine-idle-compactions",
      `${recent.idleCompactions} of ${recent.compactions} recent compactions claimed success but changed nothing; tell the author of ${owner.replace("plugin:", "plugin ")}`,
    );
  if (store !== null)
    findings.push({
      level: store.ok ? "ok" : "failure",
      code: store.ok ? "engine-store" : "engine-store-broken",
      subject: "engine store",
      text: store.ok
        ? store.text
        : `${store.text}; keep a copy of the store and see the plugin's own repair command`,
    });
  return findings;
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

/** `ownerOf`: the plugin that brings an engine, as far as anybody knows. */
export function pluginFindings(
  records: readonly PluginRecord[],
  plugins: PluginsConfig,
  ownerOf: (engineId: string) => string | undefined,
): Finding[] {
  const findings = records.flatMap((record): Finding[] => {
    const subject = `plugin ${record.id}`;
    if (record.status === "error")
      return [
        {
          level: isSelected(record, plugins, ownerOf) ? "failure" : "warning",
          code: "plugin-failed",
          subject,
          text: record.reason ?? "broken",
        },
      ];
    if (record.status === "off")
      return [{ level: "note", code: "plugin-off", subject, text: `off: ${record.reason}` }];
    const what = [
      ...record.engines.map((id) => `engine ${id}`),
      ...(record.tools.length > 0 ? [`tools ${record.tools.join(", ")}`] : []),
      ...(record.commands[0] === undefined ? [] : [`command /${record.commands[0]}`]),
    ];
    const text = `${record.version ?? "no version"}, ${record.origin}${what.length > 0 ? `: ${what.join("; ")}` : ""}`;
    return [
      { level: "ok", code: "plugin", subject, text },
      ...record.diagnostics.map(
        ({ message }): Finding => ({
          ...{ level: "warning", code: "plugin-diagnostic", subject },
          text: message,
        }),
      ),
    ];
  });
  return [...findings, ...staleSlots(records, plugins, ownerOf)];
}

/** A slot that names what nobody brings. */
export interface StaleSlot extends Finding {
  slot: "contextEngine" | "memory";
}

export function staleSlots(
  records: readonly Pick<PluginRecord, "id" | "engines">[],
  plugins: PluginsConfig,
  ownerOf: (engineId: string) => string | undefined,
): StaleSlot[] {
  return (["contextEngine", "memory"] as const).flatMap((slot): StaleSlot[] => {
    const value = slotValue(plugins, slot);
    if (value === null || value === "legacy" || value === "memory-core") return [];
    const owner = slot === "memory" ? value : (ownerOf(value) ?? value);
    const isThere = records.some(
      ({ id, engines }) => id === owner || id.startsWith(`${owner}/`) || engines.includes(value),
    );
    if (isThere) return [];
    return [
      {
        slot,
        level: "warning",
        code: "slot-stale",
        subject: "settings",
        text: `plugins.slots.${slot} is "${value}", which no plugin provides; install the plugin, or run "clew doctor --fix" to remove the setting`,
      },
    ];
  });
}

function isSelected(
  { id, engines }: PluginRecord,
  plugins: PluginsConfig,
  ownerOf: (engineId: string) => string | undefined,
): boolean {
  const slot = slotValue(plugins);
  return slot !== null && (slot === id || engines.includes(slot) || ownerOf(slot) === id);
}
