// Finds out how this home's gateway is reached by clients, and what it wants to be shown.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { findProvider } from "@clew/plugin-sdk/host";
import type { Environment } from "../config/environment.ts";
import { type NamedToken, tokensOf } from "../config/gateway-auth.ts";
import { loadConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { MAKERS } from "../door/upstream/find-upstream.ts";
import { findOwnGateway } from "../gateway-client.ts";
import { type ConnectClient, OWN_MODEL } from "./connection.ts";

export interface FoundGateway {
  base: string;
  isRunning: boolean;
  /** The least that may chat. Null: nobody needs one. */
  token: NamedToken | null;
  config: Config;
}

/** Throws CONFIG_INVALID, REQUEST_INVALID. */
export async function findGateway(environment: Environment): Promise<FoundGateway> {
  const { home, configFile } = environment;
  const { config } = await loadConfig(configFile);
  if (!config.door.enabled)
    throw refused(
      'The door is off, so no client can come in; turn it on with "clew config set door.enabled true"',
    );
  const { port } = config.gateway;
  const lookup = await findOwnGateway({ home, port });
  const isRunning = lookup.kind === "running";
  if (!isRunning && port === 0)
    throw refused(
      'Nobody knows the gateway\'s port before it runs, as gateway.port is 0; start it with "clew start", or set a port',
    );
  const base = isRunning ? lookup.gateway.url : `http://127.0.0.1:${port}`;
  return { base, isRunning, token: planToken(tokensOf(config.gateway.auth, environment)), config };
}

/** Pure. The least that is enough, and the person's own last. Throws REQUEST_INVALID. */
export function planToken(tokens: readonly NamedToken[]): NamedToken | null {
  if (tokens.length === 0) return null;
  const fit =
    tokens.find(({ scope }) => scope === "chat") ??
    tokens.find(({ scope, isOwn }) => scope === "admin" && !isOwn) ??
    tokens.find(({ isOwn }) => isOwn);
  if (fit !== undefined) return fit;
  throw refused('No token of gateway.auth.tokens may chat; add one with "scope": "chat"');
}

/** Pure. Whether the gateway has a key for what a client asks by its wire. */
export function signsIn(
  { api, model: usual }: Pick<ConnectClient, "api" | "model">,
  model: string | null,
  { config, environment }: { config: Config; environment: Pick<Environment, "providerKey"> },
): boolean {
  const { key, provider } = config.door.upstreams[api] ?? {};
  if (key !== undefined) return key === "gateway";
  // An agent's own model is asked as in any turn.
  const asked = model ?? usual;
  if (asked === OWN_MODEL || asked?.startsWith(`${OWN_MODEL}/`)) return true;
  const configured = Object.entries(config.models.providers);
  const speaks = configured.find(([, each]) => each.api === api)?.[0];
  const id = provider ?? speaks ?? MAKERS[api];
  const known = Object.hasOwn(config.models.providers, id)
    ? config.models.providers[id]
    : undefined;
  return (
    known?.apiKey !== undefined ||
    known?.apiKeyCommand !== undefined ||
    environment.providerKey(id) !== undefined ||
    (known !== undefined && findProvider(id) === undefined)
  );
}

const refused = (sentence: string) => new ContextEngineError("REQUEST_INVALID", `${sentence}.`);
