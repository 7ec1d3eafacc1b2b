// Takes along what model calls cost, and names what of it stays in the database.
import { shareCostsOnce } from "../../costs/share-costs.ts";
import { whereReadable } from "./files-in.ts";
import type { CopyIn, CopyOut, CopyResult } from "./result.ts";

/** As the gateway of that home does at its start on the database, so that nothing counts twice. */
export async function copyCostsIn(
  { home, homeId, copy, isCheck }: CopyIn,
  result: CopyResult,
): Promise<void> {
  const shelf = copy.costs(homeId);
  const days = await whereReadable(result, "What model calls cost", () =>
    shareCostsOnce({ home, place: copy.clusterId, shelf, isCheck }),
  );
  result.costDays = days ?? 0;
}

/** A home's files say what its own gateway spent: others' would be brought back as its own. */
export async function costsThatStay({ homeId, copy }: CopyOut): Promise<CopyResult["stays"]> {
  for await (const _ of copy.costsOfOthers(homeId))
    return [
      {
        what: "What model calls of other homes cost",
        why: 'the database keeps it; "clew usage", the sums of sessions and cost caps count here what this home spent',
      },
    ];
  return [];
}
