// Looks for the gateway of a command's home.
import type { Environment } from "../../config/environment.ts";
import { loadConfig } from "../../config/load.ts";
import { findOwnGateway, type GatewayLookup } from "../../gateway-client.ts";

/** Throws CONFIG_INVALID. */
export async function lookUpGateway({ home, configFile }: Environment): Promise<GatewayLookup> {
  const { config } = await loadConfig(configFile);
  return findOwnGateway({ home, port: config.gateway.port });
}
