// Checks whether somebody brings what a slot names, and says what helps where nobody does.
import type { PluginsConfig } from "@clew/plugin-sdk/host";
import { type DiscoverRequest, discoverPlugins } from "../plugins/find/discover.ts";
import { slotValue, whyOff } from "../plugins/find/enablement.ts";
import type { PluginRecord } from "../plugins/load/record.ts";
import { nearestName } from "../text/nearest.ts";
import type { Finding, FindingCode } from "./finding.ts";

/** Something is the matter with what a slot names. */
export interface SlotFinding extends Finding {
  slot: "contextEngine" | "memory";
}

/** A plugin that lies there, loaded or not. */
export interface PluginAtHand {
  id: string;
  /** Why no start would load it for a slot that names it; null = each would. */
  off: string | null;
}

export interface SlotSources {
  records: readonly Pick<PluginRecord, "id" | "engines">[];
  /** The plugin that brings an engine, as far as anybody knows. */
  ownerOf: (engineId: string) => string | undefined;
  /** What the gateway that told the records need not have met. */
  atHand: readonly PluginAtHand[];
}

/** As a start from now would find them. */
export const pluginsAtHand = (request: DiscoverRequest): PluginAtHand[] =>
  discoverPlugins(request).map(({ id, origin, result }) => ({
    id,
    off: whyOff({
      plugins: request.plugins,
      manifest: result.ok ? result.files.manifest : { id },
      isBundled: origin === "bundled",
      isSelected: true,
    }),
  }));

/** Pure. */
export function slotFindings(
  plugins: PluginsConfig,
  { records, ownerOf, atHand }: SlotSources,
): SlotFinding[] {
  return (["contextEngine", "memory"] as const).flatMap((slot): SlotFinding[] => {
    const value = slotValue(plugins, slot);
    if (value === null || value === "legacy" || value === "memory-core") return [];
    const owner = slot === "memory" ? value : (ownerOf(value) ?? value);
    const isLoaded = records.some(
      ({ id, engines }) => id === owner || id.startsWith(`${owner}/`) || engines.includes(value),
    );
    const found = atHand.find(({ id }) => id === owner || owner.startsWith(`${id}/`));
    const name = `plugins.slots.${slot}`;
    const finding = (code: FindingCode, text: string): SlotFinding => ({
      ...{ slot, level: "warning", code, subject: "settings" },
      text: `${name} is "${value}", ${text}`,
    });
    if (found?.off != null)
      return [
        finding(
          "slot-off",
          `and plugin "${found.id}" is off: ${found.off}; "clew plugins enable ${found.id}" turns it on`,
        ),
      ];
    if (isLoaded) return [];
    if (found !== undefined)
      return [
        finding(
          "slot-waits",
          'and the running gateway was started with other settings; "clew stop" and "clew start" make it load that',
        ),
      ];
    const near = nearestChoice(slot, value, atHand);
    const cure =
      near === null
        ? 'install the plugin, or run "clew doctor --fix" to remove the setting'
        : didYouMean(slot, near);
    return [finding("slot-stale", `which no plugin provides; ${cure}`)];
  });
}

/** What a misspelt name of the slot was meant to be; null = nothing is near. */
export const nearestChoice = (
  slot: SlotFinding["slot"],
  value: string,
  atHand: readonly PluginAtHand[],
): string | null =>
  nearestName(value, [slot === "memory" ? "memory-core" : "legacy", ...atHand.map(({ id }) => id)]);

/** To go on with behind a semicolon. */
export const didYouMean = (slot: SlotFinding["slot"], near: string): string =>
  `did you mean "${near}"? "clew config set plugins.slots.${slot} ${near}" sets it`;
