// What a model's tokens cost, by the settings or else by the catalogue.
import type { CostProfile } from "@clew/plugin-sdk/host";
import type { ModelConfig } from "../config/models.ts";

/** US dollars per million tokens; null = not known. */
export interface Prices extends Pick<CostProfile, "input" | "output" | "cacheWriteLong" | "above"> {
  cacheRead: number | null;
  cacheWrite: number | null;
  /** True: the catalogue's, for the provider's usual service; else the settings' own. */
  isRecorded: boolean;
}

/** Null: not known. Settings that name input and output say all there is to know. */
export function pricesOf(
  listed: Pick<ModelConfig, "cost"> | undefined,
  recorded: CostProfile | null,
): Prices | null {
  const { input, output, cacheRead = null, cacheWrite = null } = listed?.cost ?? {};
  if (input !== undefined && output !== undefined)
    return { input, output, cacheRead, cacheWrite, isRecorded: false };
  return recorded === null ? null : { ...recorded, isRecorded: true };
}

/** Of what runs in this process. */
export const FREE: Prices = {
  ...{ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  isRecorded: false,
};
