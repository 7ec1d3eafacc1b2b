// What one model call sent of the branch it was made on, told without the calls before it.

import type { ReportItem, RequestPreview } from "@clew/engine-core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { LastRequest } from "../reports/expand.ts";
import { readPart } from "../reports/report-log.ts";
import { type BranchCursor, createBranchCursor } from "./branch-cursor.ts";
import { planCoverage } from "./coverage.ts";
import { countFates, planFates } from "./fates.ts";
import type { PlacedCall } from "./placed-call.ts";
import { createSentItems, type SentItems } from "./sent-items.ts";
import { createEntryFinder, type EntryFinder, type SessionSource } from "./session-source.ts";
import type { FateCounts } from "./shapes.ts";
import { createTreatments } from "./treatments.ts";

export interface CallOnBranch {
  /** The branch it was made on, to its newest entry. */
  path: readonly TranscriptEntry[];
  sent: SentItems;
}

/** `part`: the content a report names by a hash; null = it is not stored any more. */
export async function placeOnBranch(
  finder: Pick<EntryFinder, "find" | "ensure">,
  part: (hash: string) => Promise<string | null>,
  placed: PlacedCall,
  messages: readonly ReportItem[],
): Promise<CallOnBranch> {
  const cursor = createBranchCursor(finder.find);
  await moveToCall(finder, cursor, placed, messages);
  const sent = createSentItems();
  const treat = await createTreatments(part, cursor).of(placed, messages, 0);
  sent.advance({ ...placed.call.messages, kept: 0, items: messages.slice() }, treat);
  return { path: cursor.path, sent };
}

/** How many leading entries stayed. Without a leaf it is the newest entry that was sent. */
export async function moveToCall(
  finder: Pick<EntryFinder, "ensure">,
  cursor: BranchCursor,
  { call, report }: PlacedCall,
  messages: readonly ReportItem[],
): Promise<number> {
  const newest = messages.findLast(({ source }) => source.kind === "entry")?.source;
  const fallback = newest?.kind === "entry" ? newest.entryId : report.promptEntryId;
  const leaf = call.leafId === undefined ? fallback : call.leafId;
  await finder.ensure([leaf]);
  return cursor.moveTo(leaf) ?? cursor.moveTo(fallback) ?? cursor.path.length;
}

/** In a session's last call: the numbers of its row among all calls. */
export async function fatesOfLast(
  { report, call, messages }: LastRequest,
  source: SessionSource,
): Promise<FateCounts> {
  const part = (hash: string) => readPart(source.folder, hash);
  const placed = { turn: 0, number: call.index + 1, report, call };
  return countOn(await placeOnBranch(createEntryFinder(source), part, placed, messages), placed);
}

/** Null: the call would not be made as it is. The message that is still to come does not count. */
export async function fatesOfPreview(
  { call, report, parts }: RequestPreview,
  branch: readonly TranscriptEntry[],
): Promise<FateCounts | null> {
  if (call === null) return null;
  const entries = new Map(branch.map((entry) => [entry.id, entry]));
  const finder = { find: (id: string) => entries.get(id), ensure: async () => {} };
  const leafId = branch.at(-1)?.id ?? null;
  const placed = { turn: 0, number: 1, report, call: { ...call, leafId } };
  const part = async (hash: string) => parts[hash] ?? null;
  return countOn(await placeOnBranch(finder, part, placed, call.messages.items), placed);
}

/** Whoever kept an entry from the model, it counts as left out. */
const countOn = ({ path, sent }: CallOnBranch, { report }: PlacedCall): FateCounts =>
  countFates(
    planFates(path, {
      ...{ sent: sent.sent, madeByEngine: sent.madeByEngine, engine: report.engine.ran },
      ...{ covered: planCoverage(path, sent.summaries), withheld: new Map() },
    }),
  );
