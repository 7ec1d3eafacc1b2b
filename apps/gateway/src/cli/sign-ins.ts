// Runs `clew models sign-in`, which lists where keys and logins come from.
import { PROVIDERS, shownAddress } from "@clew/plugin-sdk/host";
import { agentSettings, defaultAgentId } from "../config/agent.ts";
import { type Environment, keyNames } from "../config/environment.ts";
import { loadConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { findAccess, findAddress } from "../credentials/find.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import { printable } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { formatTable } from "../terminal/table.ts";

interface SignInRow {
  provider: string;
  /** Without what may be secret in it. Null: it has none. */
  baseUrl: string | null;
  /** Completes "signs in with …". Null: it cannot sign in, `problem` says why. */
  from: string | null;
  problem: string | null;
}

/** Asks no network. Exit code 1 when the provider of the default model cannot be signed in to. */
export async function signIns(
  { json = false }: { json?: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const { config } = await loadConfig(environment.configFile);
  const { model } = agentSettings(config, environment.home, defaultAgentId(config));
  const inUse = model.slice(0, Math.max(0, model.indexOf("/")));
  const rows = planRows(config, environment, inUse);
  if (json) output.json({ providers: rows });
  else
    output.line(
      formatTable(
        ["provider", "signs in with"],
        rows.map(({ provider, from, problem }) => [
          printable(provider),
          printable(from ?? problem ?? ""),
        ]),
      ),
    );
  return rows.some(({ provider, problem }) => provider === inUse && problem !== null)
    ? EXIT.failed
    : EXIT.done;
}

/** The provider in use, those that are configured, and those whose key is in the environment. */
function planRows(config: Config, environment: Environment, inUse: string): SignInRow[] {
  const { providers } = config.models;
  const keyed = PROVIDERS.filter(({ id }) =>
    keyNames(id).some((name) => environment.variable(name) !== undefined),
  );
  const ids = new Set([inUse, ...Object.keys(providers), ...keyed.map(({ id }) => id)]);
  return [...ids].sort().map((provider) => {
    if (provider === "offline" || provider === "")
      return { provider: "offline", baseUrl: null, from: "nothing", problem: null };
    const configured = Object.hasOwn(providers, provider) ? providers[provider] : undefined;
    const address = findAddress(provider, configured, environment);
    const baseUrl = address === undefined ? null : shownAddress(address);
    try {
      const { from } = findAccess(provider, configured, environment);
      return { provider, baseUrl, from, problem: null };
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      return { provider, baseUrl, from: null, problem };
    }
  });
}
