// Checks whether tokens are there that the settings take from variables.
import type { Environment } from "../config/environment.ts";
import type { LoadedConfig } from "../config/load.ts";
import type { GatewayLookup } from "../gateway-client.ts";
import type { Finding } from "./finding.ts";
import { refusedTokens, variablesOfService } from "./unset-variables.ts";

/** A gateway that runs was started where they are set, and so will a service be. */
export function checkRefused(
  environment: Environment,
  { config }: Pick<LoadedConfig, "config">,
  lookup: GatewayLookup,
): Finding[] {
  const finding = (level: Finding["level"], text: string): Finding => ({
    ...{ level, code: "settings-variable-unset", subject: "settings" },
    text,
  });
  const isRunning = lookup.kind === "running";
  const isSetForService = refusedTokens(config, variablesOfService(environment)).length === 0;
  return refusedTokens(config, environment).map((problem) => {
    if (isRunning)
      return finding("note", `the gateway that runs was started elsewhere. Here: ${problem}`);
    return isSetForService
      ? finding("note", `service.env has what a service needs. Here: ${problem}`)
      : finding("failure", problem);
  });
}
