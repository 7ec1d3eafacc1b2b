// Takes what an engine says of itself as a frozen snapshot, or lists what is wrong with it.
import type { ContextEngineInfo } from "@clew/plugin-sdk/core";
import { isRecord } from "@clew/plugin-sdk/host";
import { z } from "zod";
import { refuse, takeFrom, takePlain } from "./plain-data.ts";
import { quietPromises } from "./quiet-promises.ts";

// Only the literal true and the word "background" count (contract §1.1): anything may stand there.
const anything = z.unknown().optional();
const optionalText = z.string().optional();
const Requirement = z.object({
  requiredCapabilities: z.array(z.string()).optional(),
  unsupportedMessage: optionalText,
});

const InfoSchema = z.object({
  id: z.string(),
  name: z.string(),
  version: optionalText,
  ownsCompaction: anything,
  turnMaintenanceMode: anything,
  hostRequirements: z.record(z.string(), Requirement.optional()).optional(),
  acceptedHostParams: z.array(z.string()).optional(),
  transcriptSemantics: z
    .object({ currentTurnFence: anything, turnAdvancementIdempotency: anything })
    .optional(),
});

/** What an engine says of itself, as it was when it was read. */
export type InfoReading =
  | { ok: true; info: Readonly<ContextEngineInfo> }
  | { ok: false; problems: readonly string[] };

/**
 * Reads `engine.info`, each field once. The snapshot is plain and frozen: nothing in it can change
 * or throw later. With `before`, an earlier snapshot, the id must be the same.
 */
export function readInfo(engine: object, before?: ContextEngineInfo): InfoReading {
  const taken = takeFrom((reading) => {
    reading.path.push("info");
    const { info } = engine as { info?: unknown };
    quietPromises(info);
    if (!isRecord(info)) return undefined;
    const fields: Record<string, unknown> = {};
    for (const key of Object.keys(InfoSchema.shape)) {
      reading.path.push(key);
      const value = takePlain(reading, info[key]);
      if (value !== undefined) fields[key] = value;
      reading.path.pop();
    }
    if (before !== undefined && before.id !== fields.id) {
      reading.path.push("id");
      refuse(`is no longer "${before.id}"`);
    }
    return fields;
  });
  return taken.ok ? planInfo(taken.value) : { ok: false, problems: [taken.problem] };
}

/** Pure: the snapshot that `fields` make, or all that is wrong with them. */
export function planInfo(fields: Record<string, unknown> | undefined): InfoReading {
  if (fields === undefined) return { ok: false, problems: ["missing info"] };
  const missing = (["id", "name"] as const)
    .filter((key) => !isText(fields[key]))
    .map((key) => `missing info.${key}`);
  const parsed = InfoSchema.safeParse(fields);
  const wrong = (parsed.error?.issues ?? [])
    .filter(({ path }) => path[0] !== "id" && path[0] !== "name")
    .map(({ path, message }) => `info.${path.join(".")} is wrong: ${message}`);
  if (parsed.success && missing.length === 0)
    return { ok: true, info: Object.freeze(parsed.data) as ContextEngineInfo };
  return { ok: false, problems: [...missing, ...wrong] };
}

const isText = (value: unknown) => typeof value === "string" && value.trim() !== "";
