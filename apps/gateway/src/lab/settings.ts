// Which settings a play runs under, those in force with another engine and model.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import type { LoadedConfig } from "../config/load.ts";
import { withValueAt } from "../config/path.ts";
import { ConfigSchema } from "../config/schema.ts";

type Settings = Pick<LoadedConfig, "config" | "raw">;

export interface PlayChoice {
  /** Registered id. */
  engine: string;
  /** "provider/model". Absent: the one of the settings. */
  model?: string | undefined;
}

type Change = [readonly string[], unknown];

/** Of every agent, also of those that have one of their own. */
function modelChanges({ agents }: Settings["raw"], model: string): Change[] {
  const list = (agents as { list?: unknown } | undefined)?.list;
  const withoutOwn = (agent: unknown) => (isRecord(agent) ? { ...agent, model } : agent);
  return [
    [["agents", "defaults", "model"], model],
    ...(Array.isArray(list)
      ? ([[["agents", "list"], list.map(withoutOwn)]] satisfies Change[])
      : []),
  ];
}

/** Stands where a key would: whoever is named for rules and prices is not called. */
const NO_KEY = "nobody is asked";

/** Pure. Throws REQUEST_INVALID for a model that is not named as one. */
export function planPlaySettings(
  { raw, config }: Settings,
  { engine, model }: PlayChoice,
): Settings {
  const asked = model ?? config.agents.defaults.model.primary;
  const provider = asked.slice(0, asked.indexOf("/"));
  const known = config.models.providers[provider];
  const changes: Change[] = [
    [["plugins", "slots", "contextEngine"], engine],
    ...(model === undefined ? [] : modelChanges(raw, model)),
    ...(provider === "" || known?.apiKey !== undefined
      ? []
      : ([[["models", "providers", provider, "apiKey"], NO_KEY]] as [
          readonly string[],
          unknown,
        ][])),
  ];
  const changed = changes.reduce<unknown>(
    (all, [path, value]) => withValueAt(all, path, value),
    raw,
  );
  const parsed = ConfigSchema.safeParse(changed);
  if (parsed.success) return { raw: changed as Settings["raw"], config: parsed.data };
  throw new ContextEngineError(
    "REQUEST_INVALID",
    `The model ${JSON.stringify(asked)} cannot be played with; name it as "provider/model", for example "anthropic/claude-sonnet-4-5".`,
  );
}
