// Decides from the settings which servers there are and what each is given.
import { resolve } from "node:path";
import { soundsSecret } from "../../config/command-environment.ts";
import { type Environment, expandVariables } from "../../config/environment.ts";
import type { McpConfig, McpServerConfig } from "../../config/mcp.ts";
import type { McpReach, McpServer } from "./server.ts";

/** Shorter ones would be found in words that are none. */
const LEAST_SECRET_CHARS = 8;

/** Pure. Those that are switched on, in the order of their names. */
export const planServers = (
  { servers }: McpConfig,
  environment: Pick<Environment, "variable" | "userHome">,
): McpServer[] =>
  Object.entries(servers)
    .filter(([, { enabled }]) => enabled)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, settings]) => planServer(name, settings, environment));

function planServer(
  name: string,
  settings: McpServerConfig,
  environment: Pick<Environment, "variable" | "userHome">,
): McpServer {
  const missing = new Set<string>();
  const secrets = new Set<string>();
  const expand = (text: string): string => {
    const expanded = expandVariables(text, environment);
    if ("text" in expanded) {
      for (const [name, value] of variablesIn(text, environment))
        if (soundsSecret(name)) secrets.add(value);
      return expanded.text;
    }
    for (const each of expanded.missing) missing.add(each);
    return text;
  };
  const variable = (wanted: string): [string, string][] => {
    const value = environment.variable(wanted);
    if (value === undefined) missing.add(wanted);
    else if (soundsSecret(wanted)) secrets.add(value);
    return value === undefined ? [] : [[wanted, value]];
  };
  const reach = reachOf(settings, { expand, variable, userHome: environment.userHome });
  if (reach.kind === "http")
    for (const value of Object.values(reach.headers))
      secrets.add(value.replace(/^(Bearer|Basic|Token) +/i, ""));
  const { approval, tools, agents, protocol } = settings;
  const { connectTimeoutMs, callTimeoutMs, maxCallMs } = settings;
  return {
    ...{ name, reach, approval, tools, agents, protocol },
    ...{ connectTimeoutMs, callTimeoutMs, maxCallMs },
    secrets: [...secrets].filter(({ length }) => length >= LEAST_SECRET_CHARS),
    ...(missing.size > 0 && { problem: describeMissing(name, [...missing]) }),
  };
}

function reachOf(
  { command, args, env, cwd, url, headers }: McpServerConfig,
  given: {
    expand: (text: string) => string;
    variable: (name: string) => [string, string][];
    userHome: string;
  },
): McpReach {
  const { expand, variable, userHome } = given;
  if (url !== undefined)
    return {
      kind: "http",
      url,
      headers: Object.fromEntries(
        Object.entries(headers).map(([name, value]) => [name, expand(value)]),
      ),
    };
  return {
    kind: "program",
    command: command ?? "",
    args: args.map(expand),
    env: Object.fromEntries(env.flatMap(variable)),
    ...(cwd !== undefined && { cwd: resolve(cwd.replace(/^~(?=\/|$)/, userHome)) }),
  };
}

const variablesIn = (
  text: string,
  { variable }: Pick<Environment, "variable">,
): [name: string, value: string][] =>
  [...text.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g)].flatMap(([, name = ""]) => {
    const value = variable(name);
    return value === undefined ? [] : [[name, value]];
  });

const describeMissing = (name: string, missing: readonly string[]): string =>
  `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} not set in the environment (mcp.servers.${name})`;
