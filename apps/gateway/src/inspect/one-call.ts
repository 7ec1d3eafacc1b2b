// What one model call sent of the branch it was made on, told without the calls before it.

import type { ReportItem, RequestPreview } from "@clew/engine-core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { LastRequest } from "../reports/expand.ts";
import { readPart } from "../reports/report-log.ts";
import { type Branch, type BranchCursor, createBranchCursor } from "./branch-cursor.ts";
import { planCoverage } from "./coverage.ts";
import { countFates, planFates } from "./fates.ts";
import { engineOf, type PlacedCall } from "./placed-call.ts";
import { createSentItems, type SentItems } from "./sent-items.ts";
import { createEntryFinder, type EntryFinder, type SessionSource } from "./session-source.ts";
import type { FateCounts } from "./shapes/entries.ts";
import { createTreatments, type Treatments } from "./treatments.ts";
import { planUnseen } from "./unseen.ts";

/** The branch of a call. Without a leaf it ends with the newest entry that was sent. */
export async function branchOfCall(
  finder: Pick<EntryFinder, "ensure">,
  cursor: Pick<BranchCursor, "branchTo">,
  placed: PlacedCall,
  messages: () => readonly ReportItem[],
): Promise<Branch> {
  for (const leaf of leavesOf(placed, messages)) {
    await finder.ensure([leaf]);
    const branch = cursor.branchTo(leaf);
    if (branch !== undefined) return branch;
  }
  return NO_BRANCH;
}

export const NO_BRANCH: Branch = { path: [], placeOf: () => undefined, numberOf: () => undefined };

/** The same, walked to: how many leading entries stayed. */
export async function moveToCall(
  finder: Pick<EntryFinder, "ensure">,
  cursor: BranchCursor,
  placed: PlacedCall,
  messages: () => readonly ReportItem[],
): Promise<number> {
  for (const leaf of leavesOf(placed, messages)) {
    await finder.ensure([leaf]);
    const stayed = cursor.moveTo(leaf);
    if (stayed !== undefined) return stayed;
  }
  return cursor.path.length;
}

/** Where its branch may end, the best first. */
function* leavesOf(
  { call, report }: PlacedCall,
  messages: () => readonly ReportItem[],
): Generator<string | null> {
  if (call.leafId !== undefined) yield call.leafId;
  const newest = messages().findLast(({ source }) => source.kind === "entry")?.source;
  yield newest?.kind === "entry" ? newest.entryId : report.promptEntryId;
}

/** How the entries of the branch were sent. */
export async function sentInCall(
  treatments: Treatments,
  placed: PlacedCall,
  messages: readonly ReportItem[],
): Promise<SentItems> {
  const sent = createSentItems();
  const treat = await treatments.of(placed, messages, 0);
  sent.advance({ ...placed.call.messages, kept: 0, items: messages.slice() }, treat);
  return sent;
}

/** In a session's last call: the numbers of its row among all calls. */
export async function fatesOfLast(
  { report, call, messages }: LastRequest,
  source: SessionSource,
): Promise<FateCounts> {
  const placed = { turn: 0, number: call.index + 1, report, call };
  const part = (hash: string) => readPart(source.folder, hash);
  return countFatesOf(placed, messages, { finder: createEntryFinder(source), part });
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
  const { execution } = report;
  const isUnseen = execution?.cannot.includes("assemble-before-prompt") === true;
  const harness = isUnseen ? { harness: execution.harnessId } : {};
  const placed = { turn: 0, number: 1, report, call: { ...call, leafId, ...harness } };
  const part = async (hash: string) => parts[hash] ?? null;
  return countFatesOf(placed, call.messages.items, { finder, part });
}

interface Found {
  finder: Pick<EntryFinder, "find" | "ensure">;
  /** The content a report names by a hash; null = it is not stored any more. */
  part: (hash: string) => Promise<string | null>;
}

/** Whoever kept an entry from the model, it counts as left out. */
async function countFatesOf(
  placed: PlacedCall,
  messages: readonly ReportItem[],
  { finder, part }: Found,
): Promise<FateCounts> {
  const cursor = createBranchCursor(finder.find);
  const branch = await branchOfCall(finder, cursor, placed, () => messages);
  const { sent, madeByEngine, summaries } = await sentInCall(
    createTreatments(part, branch),
    placed,
    messages,
  );
  const facts = {
    sent,
    madeByEngine,
    engine: engineOf(placed),
    withheld: new Map(),
    isGapped: false,
    ...{ unseen: planUnseen(placed, branch), placeOf: branch.placeOf },
  };
  const { path } = branch;
  return countFates(planFates(path, { ...facts, covered: planCoverage(path, summaries) }));
}
