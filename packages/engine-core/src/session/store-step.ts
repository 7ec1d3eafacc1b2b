// Stores what belongs to one step of a turn.
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { TranscriptPort, TranscriptStep } from "../transcript-port.ts";

/**
 * All or nothing, where the store can; else its parts in this order, so that nothing counts as
 * acknowledged that is not stored. The report is then for whoever gets the turn's result.
 */
export async function storeStep(
  transcript: TranscriptPort,
  step: Partial<TranscriptStep>,
): Promise<readonly TranscriptEntry[]> {
  const { entries = [], deliveries = [], report = null } = step;
  if (entries.length === 0 && deliveries.length === 0 && report === null) return [];
  if (transcript.appendStep !== undefined)
    return transcript.appendStep({ entries, deliveries, report });
  const stored = entries.length > 0 ? await transcript.append(entries) : [];
  for (const { engineId, change } of deliveries)
    await transcript.deliveries?.save(engineId, change);
  return stored;
}
