// Tells of names in the settings that nobody knows, before they are asked for.
import { agentIds, agentSettings, modelChains } from "../config/agent.ts";
import type { Environment } from "../config/environment.ts";
import { harnessIds } from "../config/harness.ts";
import type { Config } from "../config/schema.ts";
import { mistakenDoorSettings } from "../door/upstream/mistaken-settings.ts";
import { modelRequest } from "../models/model-request.ts";
import { whyUnknownProvider } from "../models/resolve.ts";
import { bundledPlugins } from "../plugins/find/bundled.ts";
import { discoverPlugins } from "../plugins/find/discover.ts";
import { slotValue } from "../plugins/find/enablement.ts";
import { readRecords } from "../plugins/find/records.ts";
import { didYouMean } from "../text/nearest.ts";

/** Sentences. They refuse nothing: a provider or a plugin may be added after its name. */
export function mistakenNames(config: Config, environment: Environment): string[] {
  const { home } = environment;
  return [
    ...mistakenModels(config, environment),
    ...mistakenEngines(config, home),
    ...mistakenHarnesses(config, home),
    ...mistakenDoorSettings(config, environment).map(({ text }) => text),
  ];
}

function mistakenHarnesses(config: Config, home: string): string[] {
  const known = harnessIds(config.harness);
  return agentIds(config).flatMap((id) => {
    const { harness } = agentSettings(config, home, id);
    if (known.includes(harness)) return [];
    return [
      `No program that runs turns is called "${harness}" (agent "${id}").${didYouMean(harness, known)} Until it is, every turn of the agent fails.`,
    ];
  });
}

function mistakenModels(config: Config, environment: Environment): string[] {
  const request = modelRequest(config, environment);
  const names = modelChains(config, environment.home).flatMap(({ models }) => models);
  return [...new Set(names)].flatMap((name) => whyUnknownProvider(name, request) ?? []);
}

/** An engine is called by its plugin's name, or by one that only the plugin's code tells. */
function mistakenEngines(config: Config, home: string): string[] {
  const { plugins, agents } = config;
  const named = [
    { engine: slotValue(plugins), setting: "plugins.slots.contextEngine" },
    ...agents.list.map(({ id, engine = null }) => ({
      ...{ engine, setting: `agents.list, agent "${id}"` },
    })),
  ];
  const records = readRecords(home);
  const found = discoverPlugins({ home, plugins, records, bundled: bundledPlugins() });
  const known = ["legacy", ...found.map(({ id }) => id)];
  return named.flatMap(({ engine, setting }) =>
    engine === null || known.includes(engine)
      ? []
      : [
          `No context engine is called "${engine}" (${setting}).${didYouMean(engine, known)} Unless a plugin brings one of that name, legacy answers.`,
        ],
  );
}
