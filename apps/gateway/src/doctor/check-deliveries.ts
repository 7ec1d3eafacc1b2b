// Finds the turns of an agent's sessions that engines refused too often.
import { deliveryStatus } from "@clew/engine-core";
import { readDeliveries } from "../sessions/deliveries.ts";
import type { SessionIndex } from "../sessions/index-file.ts";
import { shortName } from "../sessions/keys.ts";
import { deliveriesFile, transcriptFile } from "../sessions/paths.ts";
import { readTranscript } from "../sessions/store.ts";
import { counted } from "../text/number.ts";
import type { Finding } from "./finding.ts";

/** `index` names every session of the agent. */
export async function findParkedTurns(
  home: string,
  agentId: string,
  index: SessionIndex,
): Promise<Finding[]> {
  const found = await Promise.all(
    Object.entries(index).map(([key, { sessionId }]) =>
      parkedTurnsOf({ home, agentId, key, sessionId }),
    ),
  );
  return found.flat();
}

interface Asked {
  home: string;
  agentId: string;
  key: string;
  sessionId: string;
}

/** Which version an engine has now is not known here, so every refusal counts. */
async function parkedTurnsOf({ home, agentId, key, sessionId }: Asked): Promise<Finding[]> {
  const ledger = await readDeliveries(deliveriesFile(home, agentId, sessionId));
  const records = ledger.engines().flatMap((engineId) => {
    const record = ledger.read(engineId);
    return record === undefined || record.refused.size === 0 ? [] : [{ engineId, record }];
  });
  if (records.length === 0) return [];
  // What is wrong with a transcript is another finding.
  const file = transcriptFile(home, agentId, sessionId);
  const { branch } = await readTranscript(file).catch(() => ({ branch: [] }));
  return records.flatMap(({ engineId, record }): Finding[] => {
    const { blocked } = deliveryStatus(branch, record);
    const last = blocked.at(-1);
    if (last === undefined) return [];
    const subject = `session ${shortName(key)}`;
    const text = `"${engineId}" refused ${counted(blocked.length, "turn")} too often (${last.reason}); offer ${blocked.length === 1 ? "it" : "them"} again: clew engine retry ${shortName(key)}`;
    return [{ level: "warning", code: "engine-turns-parked", subject, text }];
  });
}
