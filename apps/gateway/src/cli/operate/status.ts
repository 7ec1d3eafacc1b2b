// Runs `clew status`, which asks this home's gateway how it is.
import { isRecord } from "@clew/plugin-sdk/host";
import { loadConfig } from "../../config/load.ts";
import { describeMissing, findOwnGateway, type GatewayLookup } from "../../gateway-client.ts";
import { describeOtherSettings, type OtherSetting, otherSettings } from "../../running-settings.ts";
import { describeUnstored } from "../../running-unstored.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { counted } from "../../text/number.ts";

/** Exit code 1: no gateway of this home can be spoken to. */
export async function status(
  { json = false }: { json?: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const { home } = environment;
  const { config } = await loadConfig(environment.configFile);
  const lookup = await findOwnGateway({ home, port: config.gateway.port });
  const others = lookup.kind === "running" ? otherSettings(lookup.gateway, config) : [];
  const warning = describeOtherSettings(others);
  if (json) output.json(asData(lookup, home, others));
  else if (lookup.kind === "running") {
    for (const line of describe(lookup.gateway, home)) output.line(printable(line));
    for (const line of describeUnstored(lookup.gateway)) output.line(printable(line));
    if (warning !== null) output.line(printable(`warning: ${warning}`));
  } else output.line(printable(`${capitalized(describeMissing(lookup))} (home ${home}).`));
  return lookup.kind === "running" ? EXIT.done : EXIT.failed;
}

function asData(lookup: GatewayLookup, home: string, otherSettings: OtherSetting[]): object {
  if (lookup.kind !== "running")
    return { home, running: false, state: lookup.kind, text: describeMissing(lookup) };
  const { url, pid, health } = lookup.gateway;
  const { proof: _once, home: _hash, ...told } = health;
  return { home, running: true, state: lookup.kind, url, ...told, pid, otherSettings };
}

function describe(
  { url, pid, health }: Extract<GatewayLookup, { kind: "running" }>["gateway"],
  home: string,
): string[] {
  const { version, uptimeMs, model, engine, turns, safeMode, status: state } = health;
  const of = isRecord(engine) ? engine : {};
  const { running = 0, waiting = 0 } = isRecord(turns) ? turns : {};
  const off = Array.isArray(safeMode) ? safeMode.filter(isRecord) : [];
  return [
    `Clew ${version} ${state === "stopping" ? "is stopping" : "runs"} at ${url} (process ${pid}, for ${describeTime(Number(uptimeMs))})`,
    `home    ${home}`,
    `model   ${model}`,
    `engine  ${of.configured ?? "legacy"}`,
    `turns   ${counted(Number(running), "session")} at work, ${waiting} waiting`,
    ...off.map(({ plugin, reason }) => `Safe mode: plugin "${plugin}": ${reason}.`),
  ];
}

/** Pure. In the two largest units. */
export function describeTime(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  const told = first < 0 ? parts.slice(-1) : parts.slice(first, first + 2);
  return told.map(([count, unit]) => `${count} ${unit}`).join(" ");
}

const capitalized = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
