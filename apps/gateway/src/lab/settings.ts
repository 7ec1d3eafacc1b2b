// Which settings a play runs under, those in force with another engine and model.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import { agentSettings, defaultAgentId } from "../config/agent.ts";
import type { Environment } from "../config/environment.ts";
import type { LoadedConfig } from "../config/load.ts";
import { withValueAt } from "../config/path.ts";
import { ConfigSchema } from "../config/schema.ts";
import { modelRequest } from "../models/model-request.ts";
import { pricesNamed } from "../models/prices-in.ts";

type Settings = Pick<LoadedConfig, "config" | "raw">;

export interface PlayChoice {
  /** Registered id. */
  engine: string;
  /** "provider/model". Absent: the one of the settings. */
  model?: string | undefined;
  /**
   * The home in which agents work where no setting says so: the instructions there are sent too.
   * Absent: where the play is, which has none.
   */
  home?: string | undefined;
}

/**
 * "provider/model" by whose rules and prices a recording is played where none was asked for: its
 * own. Undefined: nobody knows its prices, so that it is no better than the one of the settings.
 */
export function modelToPlay(
  recorded: string | null,
  { config }: Pick<LoadedConfig, "config">,
  environment: Environment,
): string | undefined {
  if (recorded === null) return undefined;
  const request = { ...modelRequest(config, environment), name: recorded };
  return pricesNamed(request) === null ? undefined : recorded;
}

type Change = [readonly string[], unknown];

/** Of every agent, also of those that have a model or a workspace of their own. */
function agentChanges({ raw, config }: Settings, { model, home }: PlayChoice): Change[] {
  const list = (raw.agents as { list?: unknown } | undefined)?.list;
  const workspaceOf = (id: string) =>
    home === undefined ? {} : { workspace: agentSettings(config, home, id).workspace };
  const played = (agent: unknown) =>
    isRecord(agent)
      ? {
          ...agent,
          ...(typeof agent.id === "string" && workspaceOf(agent.id)),
          ...(model !== undefined && { model }),
        }
      : agent;
  const ofAll = { ...workspaceOf(defaultAgentId(config)), ...(model !== undefined && { model }) };
  return [
    ...Object.entries(ofAll).map(([name, value]): Change => [["agents", "defaults", name], value]),
    ...(Array.isArray(list) ? [[["agents", "list"], list.map(played)] satisfies Change] : []),
  ];
}

/** Stands where a key would: whoever is named for rules and prices is not called. */
const NO_KEY = "nobody is asked";

/** Pure. Throws REQUEST_INVALID for a model that is not named as one. */
export function planPlaySettings({ raw, config }: Settings, choice: PlayChoice): Settings {
  const { engine, model } = choice;
  const asked = model ?? config.agents.defaults.model.primary;
  const provider = asked.slice(0, asked.indexOf("/"));
  const known = config.models.providers[provider];
  const changes: Change[] = [
    [["plugins", "slots", "contextEngine"], engine],
    ...agentChanges({ raw, config }, choice),
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
