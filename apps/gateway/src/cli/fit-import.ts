// Changes imported settings so that a gateway starts with them, and says what it changed.
import type { PluginsConfig } from "@clew/plugin-sdk/host";
import type { Environment } from "../config/environment.ts";
import type { ImportPlan } from "../config/import.ts";
import { parseConfig } from "../config/parse.ts";
import { valueAt, withoutValueAt, withValueAt } from "../config/path.ts";
import type { Config } from "../config/schema.ts";
import { isNotSignedIn } from "../credentials/find.ts";
import { modelRequest } from "../models/model-request.ts";
import { OFFLINE_MODEL, resolveModel } from "../models/resolve.ts";
import { bundledPlugins } from "../plugins/find/bundled.ts";
import { discoverPlugins } from "../plugins/find/discover.ts";
import { readRecords } from "../plugins/find/records.ts";

type Raw = Record<string, unknown>;

export interface FittedImport {
  config: Raw;
  ignored: ImportPlan["ignored"];
  /** One sentence each. */
  added: string[];
}

/** Slots that nobody fills here go; models that nobody can sign in to get one beside them. */
export function fitImport(config: Raw, environment: Environment): FittedImport {
  const slots = withoutEmptySlots(config, environment);
  const models = withModelsThatAnswer(slots.config, environment);
  return { ...models, ignored: [...slots.ignored, ...models.ignored] };
}

/** What fills each slot where no plugin does. */
const BUILT_IN = { contextEngine: "legacy", memory: "memory-core" } as const;

function withoutEmptySlots(
  raw: Raw,
  { home }: Environment,
): Pick<FittedImport, "config" | "ignored"> {
  const plugins = (valueAt(raw, ["plugins"]) ?? {}) as PluginsConfig;
  const records = readRecords(home);
  const found = discoverPlugins({ home, plugins, records, bundled: bundledPlugins() });
  const known = [...found.map(({ id }) => id), ...Object.keys(records.engines)];
  return (["contextEngine", "memory"] as const).reduce<Pick<FittedImport, "config" | "ignored">>(
    ({ config, ignored }, slot) => {
      const path = ["plugins", "slots", slot];
      const value = valueAt(config, path);
      if (typeof value !== "string" || [...known, BUILT_IN[slot], "none"].includes(value))
        return { config, ignored };
      const meanwhile = slot === "contextEngine" ? "; legacy answers" : "";
      const reason = `no plugin here provides "${value}"${meanwhile}; "clew plugins install" puts one there`;
      return {
        config: withoutValueAt(config, path) as Raw,
        ignored: [...ignored, { path: path.join("."), reason }],
      };
    },
    { config: raw, ignored: [] },
  );
}

function withModelsThatAnswer(raw: Raw, environment: Environment): FittedImport {
  const parsed = parseConfig(raw);
  if (!parsed.ok) return { config: raw, ignored: [], added: [] };
  const { defaults, list } = parsed.config.agents;
  const places = [
    { path: ["agents", "defaults", "model"], model: defaults.model },
    ...list.flatMap(({ model }, index) =>
      model === undefined ? [] : [{ path: ["agents", "list", index, "model"], model }],
    ),
  ];
  return places.reduce<FittedImport>(
    ({ config, ignored, added }, { path, model }) => {
      const fallbacks = model.fallbacks ?? defaults.model.fallbacks ?? [];
      const trouble = troubleWith(model.primary, parsed.config, environment);
      if (trouble === null) return { config, ignored, added };
      if (!trouble.isNotSignedIn)
        return {
          config: withoutValueAt(config, path) as Raw,
          ignored: [...ignored, { path: path.join("."), reason: trouble.text }],
          added,
        };
      const answers = fallbacks.some(
        (name) => troubleWith(name, parsed.config, environment) === null,
      );
      if (answers) return { config, ignored, added };
      const chain = { primary: model.primary, fallbacks: [...fallbacks, OFFLINE_MODEL] };
      const told = `${OFFLINE_MODEL} is added to the fallbacks of ${path.join(".")} and answers until a key is set: ${trouble.text}`;
      return {
        config: withValueAt(config, path, chain) as Raw,
        ignored,
        added: [...added, told],
      };
    },
    { config: raw, ignored: [], added: [] },
  );
}

/** Null: it can be asked. */
function troubleWith(name: string, config: Config, environment: Environment) {
  try {
    resolveModel({ ...modelRequest(config, environment), name });
    return null;
  } catch (error) {
    return { text: (error as Error).message, isNotSignedIn: isNotSignedIn(error) };
  }
}
