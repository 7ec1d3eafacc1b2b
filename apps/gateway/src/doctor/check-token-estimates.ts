// Says how far token estimates were off for the default agent's model.
import { defaultAgentId } from "../config/agent.ts";
import type { LoadedConfig } from "../config/load.ts";
import { silentLog } from "../log/silent.ts";
import type { ResolvedModel } from "../models/resolve.ts";
import { createTokenRatios } from "../models/token-ratios.ts";
import { counted } from "../text/number.ts";
import type { Finding } from "./finding.ts";

/**
 * Nothing for a model that cannot be resolved, which is another finding, or
 * that nobody has used yet.
 */
export async function checkTokenEstimates(
  home: string,
  { config }: Pick<LoadedConfig, "config">,
  resolve: () => ResolvedModel,
): Promise<Finding[]> {
  let name: string;
  try {
    const { provider, id } = resolve().model;
    name = `${provider}/${id}`;
  } catch {
    return [];
  }
  const { ratio, samples } = await createTokenRatios({ home, log: silentLog }).ratio(
    defaultAgentId(config),
    name,
  );
  if (samples === 0) return [];
  return [
    {
      level: "ok",
      code: "token-ratio",
      subject: "token estimates",
      text: `${name} counts ${ratio.toFixed(2)} times the estimate (${counted(samples, "call")}); estimates are corrected`,
    },
  ];
}
