// Goes on with legacy where the settings name an engine that is not there, and says so.
import type { LogPort } from "@clew/engine-core";
import type { GatewayOptions } from "../gateway.ts";
import { engineNotThere } from "../plugins/engines/engine-settings.ts";

/** What was typed for this run is taken at its word, and the command ends. */
export function legacyInstead(
  { engine }: { engine?: string | undefined },
  log: Pick<LogPort, "warn">,
): GatewayOptions["onMissingEngine"] {
  return ({ engineId, known, error }) => {
    if (engine === engineId) throw engineNotThere(engineId, "--engine", known);
    if (engine !== undefined) throw error;
    const { code, message } = error;
    log.warn(`${message} Until then legacy answers.`, { engineId, code });
  };
}

/** The same engine is missed again in other words, for the log, by whoever asks for it. */
export function tellMissingOnce(
  tell: (level: "warn" | "error", message: string, fields: Record<string, unknown>) => void,
): (level: "warn" | "error", message: string, fields: Record<string, unknown>) => void {
  const told = new Set<unknown>();
  return (level, message, fields) => {
    const { code, engineId } = fields;
    if (code === "ENGINE_NOT_FOUND") {
      if (told.has(engineId)) return;
      told.add(engineId);
    }
    tell(level, message, fields);
  };
}
