// Asks the running gateway what it knows of its plugins.
import type { Environment } from "../../config/environment.ts";
import type { PluginRecord } from "../../plugins/load/record.ts";
import { lookUpGateway } from "../operate/look-up.ts";

/** A list that nobody answers is made of what the files say. */
const LIST_MS = 5000;

/** What the running gateway knows of its plugins; empty where none runs. */
export async function recordsOfGateway(environment: Environment): Promise<readonly PluginRecord[]> {
  const lookup = await lookUpGateway(environment);
  if (lookup.kind !== "running") return [];
  const answer = await lookup.gateway
    .request("/api/plugins", { timeoutMs: LIST_MS })
    .catch(() => undefined);
  const { plugins = [] } = (answer?.body ?? {}) as { plugins?: PluginRecord[] };
  return plugins;
}

/** A record is of a plugin, or of one of the entries that it has. */
export const isOf = (id: string, plugin: string) => id === plugin || id.startsWith(`${plugin}/`);
