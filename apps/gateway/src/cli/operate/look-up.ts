// Looks for the gateway of a command's home.
import type { Environment } from "../../config/environment.ts";
import { loadConfig } from "../../config/load.ts";
import { parseConfig } from "../../config/parse.ts";
import { findOwnGateway, type GatewayLookup } from "../../gateway-client.ts";

/** Also where the settings cannot be read: a gateway tells its own port. */
export async function lookUpRunning({ home, configFile }: Environment): Promise<GatewayLookup> {
  const loaded = await loadConfig(configFile).catch(() => parseConfig({}));
  const port = "config" in loaded ? loaded.config.gateway.port : 0;
  return findOwnGateway({ home, port });
}

/** Throws CONFIG_INVALID. */
export async function lookUpGateway({ home, configFile }: Environment): Promise<GatewayLookup> {
  const { config } = await loadConfig(configFile);
  return findOwnGateway({ home, port: config.gateway.port });
}
