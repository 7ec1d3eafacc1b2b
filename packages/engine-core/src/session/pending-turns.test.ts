import { placeEntry, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { planDeliveries } from "../turn/delivery.ts";
import { createDeliveryLedger } from "./delivery-ledger.ts";
import { findPendingTurns } from "./pending-turns.ts";

function branchOf(...prompts: readonly string[]): TranscriptEntry[] {
  let parentId: string | null = null;
  return prompts.flatMap((id) =>
    [id, `${id}-reply`].map((entryId, index) => {
      const placed = placeEntry(
        {
          type: "message",
          message:
            index === 0
              ? { role: "user", content: id }
              : { role: "assistant", stopReason: "stop", content: [{ type: "text", text: id }] },
        },
        { id: entryId, parentId, timestamp: new Date(0).toISOString() },
      );
      parentId = entryId;
      return placed;
    }),
  );
}

async function recordOf(...ids: readonly string[]) {
  const ledger = createDeliveryLedger();
  await ledger.save("one", {
    kind: "seen",
    root: "root",
    ids: ids.flatMap((id) => [id, `${id}-reply`]),
  });
  return ledger.read("one")!;
}

const idsOf = (turns: readonly { id: string }[]) => turns.map(({ id }) => id);

describe("what an engine has not acknowledged", () => {
  it("is looked for from the start where the branch is another one, however long", async () => {
    const record = await recordOf("a", "b", "c");
    const { scan, turns } = findPendingTurns(branchOf("a", "b", "c"), record, null);
    expect(turns).toEqual([]);
    const forked = branchOf("a", "x", "y", "z");
    expect(idsOf(findPendingTurns(forked, record, null, scan).turns)).toEqual(["x", "y", "z"]);
  });

  it("is looked for behind what was settled where the branch only grew", async () => {
    const record = await recordOf("a", "b");
    const { scan } = findPendingTurns(branchOf("a", "b"), record, null);
    expect(scan.settled).toBe(2);
    expect(idsOf(findPendingTurns(branchOf("a", "b", "c"), record, null, scan).turns)).toEqual([
      "c",
    ]);
  });

  it("is handed over in portions, oldest first, and the rest is counted", async () => {
    const prompts = Array.from({ length: 40 }, (_, index) => `p${index}`);
    const { turns } = findPendingTurns(branchOf(...prompts), await recordOf(), null);
    const { queue, left } = planDeliveries(turns, "eager", new Set(["afterTurn"]));
    expect(queue.map(({ turn }) => turn.id)).toEqual(prompts.slice(0, 16));
    expect(left).toBe(24);
  });
});
