// Counts what would become of each entry in the next model call.
import type { RequestPreview } from "@clew/engine-core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { createBranchCursor } from "./branch-cursor.ts";
import { planCoverage } from "./coverage.ts";
import { countFates, planFates } from "./fates.ts";
import { createSentItems } from "./sent-items.ts";
import type { FateCounts } from "./shapes.ts";
import { createTreatments } from "./treatments.ts";

/** Null: the call would not be made as it is. The message that is still to come does not count. */
export async function fatesOfPreview(
  { call, report, parts }: RequestPreview,
  branch: readonly TranscriptEntry[],
): Promise<FateCounts | null> {
  if (call === null) return null;
  const entries = new Map(branch.map((entry) => [entry.id, entry]));
  const cursor = createBranchCursor((id) => entries.get(id));
  cursor.moveTo(branch.at(-1)?.id ?? null);
  const { items } = call.messages;
  const sent = createSentItems();
  const placed = { turn: 0, number: 1, report, call };
  const part = async (hash: string) => parts[hash] ?? null;
  const treat = await createTreatments(part, cursor).of(placed, items, 0);
  sent.advance({ ...call.messages, kept: 0 }, treat);
  const facts = { sent: sent.sent, madeByEngine: sent.madeByEngine, engine: report.engine.ran };
  return countFates(
    planFates(cursor.path, {
      ...facts,
      covered: planCoverage(cursor.path, sent.summaries),
      withheld: new Map(),
    }),
  );
}
