// Which agents are answered by an engine of one plugin, by their own settings.
import type { InstallRecords } from "../find/records.ts";
import type { CurrentConfig } from "./config-file.ts";

export interface AgentWith {
  id: string;
  /** As it is written there. */
  engine: string;
}

/** Pure. An engine that was never registered goes by its plugin's name. */
export function agentsWith(
  pluginId: string,
  { agents }: Pick<CurrentConfig, "agents">,
  { engines }: Pick<InstallRecords, "engines">,
): AgentWith[] {
  return agents.flatMap(({ id, engine }) => {
    if (engine === undefined) return [];
    const owner = Object.hasOwn(engines, engine) ? engines[engine]! : engine;
    return owner.split("/")[0] === pluginId ? [{ id, engine }] : [];
  });
}
