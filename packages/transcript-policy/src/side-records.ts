// What a policy must remember about a session, as custom entries of it.
import type { PolicySideRecord } from "@clew/plugin-sdk/host";

export const SNAPSHOT_RECORD = "model-snapshot";
export const BOOTSTRAP_RECORD = "google-turn-ordering-bootstrap";

/**
 * Which route a session's history was last prepared for; the data of the `model-snapshot` record.
 */
export interface ModelSnapshot {
  /** As in the route; absent = "". */
  provider?: string;
  /** As in the route; absent = "". */
  modelApi?: string;
  /** As in the route; absent = "". */
  modelId?: string;
}

/** True when both name the same route; a missing part counts as blank. */
export const isSameModel = (left: ModelSnapshot, right: ModelSnapshot): boolean =>
  (["provider", "modelApi", "modelId"] as const).every(
    (field) => (left[field] ?? "") === (right[field] ?? ""),
  );

/**
 * The records to append: that a user turn was put in front, and which route the history is for now.
 */
export function planSideRecords({
  model: { provider = "", modelApi = "", modelId = "" },
  prior,
  bootstrapped,
  timestamp,
}: {
  model: ModelSnapshot;
  prior: ModelSnapshot | undefined;
  bootstrapped: boolean;
  timestamp: number;
}): PolicySideRecord[] {
  const model = { provider, modelApi, modelId };
  const records: PolicySideRecord[] = [];
  if (bootstrapped) records.push({ customType: BOOTSTRAP_RECORD, data: { timestamp } });
  if (prior === undefined || !isSameModel(prior, model))
    records.push({ customType: SNAPSHOT_RECORD, data: { timestamp, ...model } });
  return records;
}
