// Finds turns that engines refused too often, and damage in the record of what they took.
import { deliveryStatus } from "@clew/engine-core";
import { readDeliveries, readDeliveryFile } from "../sessions/deliveries.ts";
import type { SessionIndex } from "../sessions/index-file.ts";
import { sessionWord, shortName } from "../sessions/keys.ts";
import { deliveriesFile, transcriptFile } from "../sessions/paths.ts";
import { readTranscript } from "../sessions/read-transcript.ts";
import { counted } from "../text/number.ts";
import type { Finding } from "./finding.ts";

export type CheckedRecord =
  | { kind: "in-order" }
  /** Nothing repairs it without loss. */
  | { kind: "unreadable"; text: string }
  /** Opening the session repairs it. */
  | { kind: "damaged"; problem: string };

/** Of a session that nobody has open. */
export async function checkRecord(file: string): Promise<CheckedRecord> {
  const found = await readDeliveryFile(file, { atOnce: true });
  switch (found.kind) {
    case "absent":
      return { kind: "in-order" };
    case "unreadable": {
      const text = `${file}, the record of what engines took, cannot be read: ${found.reason}; the session works without it, and engines may be handed messages again, under the same ids; make it readable, or move it away`;
      return { kind: "unreadable", text };
    }
    case "read": {
      const { damaged } = found;
      if (damaged.length === 0) return { kind: "in-order" };
      const where = `line${damaged.length === 1 ? "" : "s"} ${damaged.join(", ")}`;
      const problem = `${where} of ${file}, the record of what engines took, cannot be read, so engines may be handed messages again, under the same ids`;
      return { kind: "damaged", problem };
    }
  }
}

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
  const ledger = await readDeliveries(deliveriesFile(home, agentId, sessionId), { atOnce: true });
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
    const text = `"${engineId}" refused ${counted(blocked.length, "turn")} too often (${last.reason}); offer ${blocked.length === 1 ? "it" : "them"} again: clew engine retry ${sessionWord(key)}`;
    return [{ level: "warning", code: "engine-turns-parked", subject, text }];
  });
}
