// Whether a plugin may run on this host, by the versions that it asks for.
import { createRequire } from "node:module";
import type * as SemverModule from "semver";
import { invalidPlugin } from "../invalid.ts";

/** The newest OpenClaw version whose plugin API this host implements. */
export const PLUGIN_API_VERSION = "2026.9.6";

/** The first one with context engines: what came and went since then is done here as well. */
export const OLDEST_PLUGIN_API_VERSION = "2026.3.7";

const OFFERED = `>=${OLDEST_PLUGIN_API_VERSION} <=${PLUGIN_API_VERSION}`;

export interface Requirements {
  compat?: { pluginApi?: string | undefined; minGatewayVersion?: string | undefined } | undefined;
  install?: { minHostVersion?: string | undefined } | undefined;
}

/**
 * Throws PLUGIN_INVALID when the plugin asks for another API, or asks in a way that cannot be read.
 */
export function checkCompatibility(pluginId: string, { compat, install }: Requirements): void {
  const wanted: [name: string, range: string | undefined][] = [
    ["compat.pluginApi", compat?.pluginApi],
    ["compat.minGatewayVersion", atLeast(compat?.minGatewayVersion)],
    ["install.minHostVersion", atLeast(install?.minHostVersion)],
  ];
  for (const [name, range] of wanted) {
    if (range === undefined || isPlainlyOffered(range)) continue;
    const semver = semverModule();
    if (semver.validRange(range) === null)
      throw invalidPlugin(
        `Plugin "${pluginId}" asks for openclaw.${name} "${range}", which is not a version range.`,
      );
    if (!semver.intersects(range, OFFERED, { includePrerelease: true }))
      throw invalidPlugin(
        `Plugin "${pluginId}" needs the plugin API ${range} (openclaw.${name}); this Clew offers ${OLDEST_PLUGIN_API_VERSION} to ${PLUGIN_API_VERSION}; install a version of the plugin made for it.`,
      );
  }
}

/** ">=2026.5.28", which most say: nothing has to be loaded to understand it. */
function isPlainlyOffered(range: string): boolean {
  const asked = range.startsWith(">=") ? numbersIn(range.slice(2)) : null;
  const newest = numbersIn(PLUGIN_API_VERSION)!;
  const differs = asked?.findIndex((number, index) => number !== newest[index]) ?? -1;
  return asked !== null && (differs < 0 || asked[differs]! < newest[differs]!);
}

/** Null: it is not three plain numbers. */
function numbersIn(version: string): number[] | null {
  const isPlain = /^(?:0|[1-9]\d{0,8})(?:\.(?:0|[1-9]\d{0,8})){2}$/.test(version);
  return isPlain ? version.split(".").map(Number) : null;
}

/** "2026.5.28" means that or newer. */
function atLeast(version: string | undefined): string | undefined {
  if (version !== undefined && numbersIn(version) !== null) return `>=${version}`;
  return version !== undefined && semverModule().valid(version) !== null ? `>=${version}` : version;
}

/** Loaded when a plugin asks in another way: a start should not wait for it. */
let loaded: typeof SemverModule | undefined;
function semverModule(): typeof SemverModule {
  loaded ??= createRequire(import.meta.url)("semver") as typeof SemverModule;
  return loaded;
}
