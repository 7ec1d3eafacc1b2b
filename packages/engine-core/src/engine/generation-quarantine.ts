// Counts a failure against the generation of the engine it happened in.
import type { ClockPort, LogPort } from "../ports.ts";
import type { Generation } from "./generations.ts";
import {
  planRecord,
  type Quarantine,
  type QuarantineFailure,
  type QuarantineRecord,
} from "./quarantine.ts";

/** The quarantine as engines of one generation see it: once replaced, they are out of it. */
export function quarantineOf(
  generation: Generation,
  { quarantine, log, clock }: { quarantine: Quarantine; log: LogPort; clock: ClockPort },
): Pick<Quarantine, "get" | "add" | "clear"> {
  const addReplaced = (failure: QuarantineFailure): QuarantineRecord => {
    const record = planRecord(failure, { kind: "turn" }, clock.now());
    const { engineId, operation, reason } = record;
    log.warn(
      `engine "${engineId}", which has been replaced or removed since, failed during ${operation}: ${reason}`,
    );
    return record;
  };
  return {
    get: (engineId, sessionKey) =>
      generation.isCurrent ? quarantine.get(engineId, sessionKey) : undefined,
    add: (failure) => (generation.isCurrent ? quarantine.add(failure) : addReplaced(failure)),
    clear(engineId, sessionKey) {
      if (generation.isCurrent) quarantine.clear(engineId, sessionKey);
    },
  };
}
