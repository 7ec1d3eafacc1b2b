// Opens a call of a session, whose messages are known, on the branch it was made on.
import type { ReportItem } from "@clew/engine-core";
import type { BranchCursor } from "./branch-cursor.ts";
import type { WalkParts } from "./call-walk.ts";
import { planCoverage } from "./coverage.ts";
import type { CallFacts } from "./fates.ts";
import { branchOfCall, NO_BRANCH, sentInCall } from "./one-call.ts";
import { createOpenedCall, type OpenedCall } from "./opened-call.ts";
import { engineOf, type PlacedCall } from "./placed-call.ts";
import type { CallRow } from "./shapes/calls.ts";
import { createTreatments } from "./treatments.ts";
import { planUnseen } from "./unseen.ts";

export interface ToOpen extends Pick<CallFacts, "withheld" | "isGapped"> {
  placed: PlacedCall;
  row: CallRow;
  /** All that were sent. */
  messages: readonly ReportItem[];
}

export async function openCall(
  { placed, row, messages, withheld, isGapped }: ToOpen,
  {
    finder,
    part,
    treated,
    cursor,
  }: Pick<WalkParts, "finder" | "part" | "treated"> & { cursor: BranchCursor },
): Promise<OpenedCall> {
  const branch = await branchOfCall(finder, cursor, placed, () => messages);
  const { sent, madeByEngine, summaries } = await sentInCall(
    createTreatments(part, branch, treated),
    placed,
    messages,
  );
  const facts = {
    ...{ sent, madeByEngine, engine: engineOf(placed), placeOf: branch.placeOf },
    ...{ unseen: planUnseen(placed, branch), withheld, isGapped },
    covered: planCoverage(branch.path, summaries),
  };
  return createOpenedCall({ ...placed, ...branch, row, messages, facts });
}

/** Of whose messages nothing is told. */
export const openLost = (call: PlacedCall, row: CallRow): OpenedCall =>
  createOpenedCall({
    ...{ ...call, ...NO_BRANCH, row, messages: [] },
    facts: {
      ...{ sent: new Map(), covered: new Map(), withheld: new Map() },
      ...{ engine: row.engine, madeByEngine: 0, isGapped: true },
      ...{ unseen: null, placeOf: NO_BRANCH.placeOf },
    },
  });
