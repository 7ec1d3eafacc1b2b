// Says which settings name variables that are not set, and which of them a start refuses.
import { join } from "node:path";
import { parseEnv } from "node:util";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { type Environment, expandVariables } from "../config/environment.ts";
import { tokensOf } from "../config/gateway-auth.ts";
import { repeatedVariables } from "../config/repeated-variables.ts";
import type { Config } from "../config/schema.ts";
import { planServers } from "../mcp/client/plan-servers.ts";
import { planStorage } from "../storage/plan-storage.ts";

type Variables = Pick<Environment, "variable">;

/** Pure. Why a start with these variables is refused though the settings are right; sentences. */
export function refusedAtStart(config: Config, variables: Variables): string[] {
  const storage = planStorage(config, variables);
  return [
    ...refusedTokens(config, variables),
    ...(storage.kind === "refused" ? storage.problems : []),
  ];
}

/** Pure. The same of tokens alone. */
export function refusedTokens(config: Config, variables: Variables): string[] {
  try {
    tokensOf(config.gateway.auth, variables);
    return [];
  } catch (error) {
    if (!ContextEngineError.is(error)) throw error;
    return [error.message];
  }
}

/** Pure. What is of no use until its variable is set, and keeps nothing from starting. */
export function unsetVariables(
  { models, mcp }: Config,
  environment: Pick<Environment, "variable" | "userHome">,
): string[] {
  const keys = Object.entries(models.providers).flatMap(([id, { apiKey = "" }]) => {
    const expanded = expandVariables(apiKey, environment);
    return "text" in expanded
      ? []
      : [
          `models.providers.${id}.apiKey names ${expanded.missing.join(" and ")}, which is not set here.`,
        ];
  });
  return [...keys, ...planServers(mcp, environment).flatMap(({ problem }) => problem ?? [])];
}

/** Holds the variables of a gateway that runs as a service. */
export const serviceVariablesFile = ({ home }: Pick<Environment, "home">): string =>
  join(home, "service.env");

/** What its service is given of its own. */
export const serviceVariables = (
  environment: Pick<Environment, "home" | "readText">,
): Readonly<Record<string, string | undefined>> =>
  parseEnv(environment.readText(serviceVariablesFile(environment)) ?? "");

/** What the file of a service says more than once, as sentences. */
export function repeatedForService(environment: Pick<Environment, "home" | "readText">): string[] {
  const file = serviceVariablesFile(environment);
  return repeatedVariables(file, environment.readText(file) ?? "");
}

/** What a service of this home is started with, where all is set that is set here. */
export function variablesOfService(
  environment: Pick<Environment, "home" | "variable" | "readText">,
): Variables {
  const own = serviceVariables(environment);
  return { variable: (name) => environment.variable(name) ?? (own[name]?.trim() || undefined) };
}
