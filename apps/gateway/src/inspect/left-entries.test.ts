import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { clew } from "../testing/command.ts";
import { startTestGateway } from "../testing/gateway.ts";
import { planLeft } from "./left-entries.ts";

const at = "2026-11-27T10:00:00.000Z";
const said = (id: string, parentId: string | null): TranscriptEntry => ({
  ...{ type: "message", id, parentId, timestamp: at },
  message: { role: "user", content: id, timestamp: 0 },
});
const undo = (id: string, parentId: string | null, leafId: string): TranscriptEntry => ({
  ...{ type: "custom", id, parentId, timestamp: at, customType: "clew:undo", data: { leafId } },
});

describe("an entry that left the branch", () => {
  it("was taken back by the undo after it, or the session went on before it", () => {
    const all = [
      ...[said("a", null), said("b", "a"), said("c", "b"), undo("u", "a", "c"), said("d", "u")],
      ...[undo("v", "a", "d"), said("e", "v"), said("f", "e"), said("g", "e")],
    ];
    const branch = ["a", "v", "e", "g"].map((id) => all.find((entry) => entry.id === id)!);
    const back = "taken back with /undo at 2026-11-27 10:00:00";
    expect(planLeft(all, branch).map(({ entry, why }) => [entry.id, why])).toEqual([
      ...[
        ["b", back],
        ["c", back],
        ["d", back],
      ],
      ["f", "the session went on from an earlier entry"],
    ]);
  });

  it("has not left where it was stored again", () => {
    const again = said("n", null) as TranscriptEntry & { type: "message" };
    const branch = [{ ...again, message: { ...again.message, __openclaw: { id: "a" } } }];
    expect(planLeft([said("a", null), ...branch], branch)).toEqual([]);
  });
});

describe("what /undo took back", () => {
  it("was said by somebody and taken by /undo, wherever it is asked for", async () => {
    const { home, say, gateway } = await startTestGateway();
    await say("The first words");
    await say("The secret is ZEBRA-88.");
    await say("/undo");
    await say("Other words");
    const inspector = await gateway.inspect("main");
    const found = (await inspector.find({ text: "ZEBRA-88", limit: 10 }))!;
    const [secret] = found.left;
    expect(found.matching).toBe(0);
    expect(secret).toMatchObject({
      role: "user",
      why: expect.stringMatching(/^taken back with \/undo at 20/),
    });
    expect(found.lost[0]!.why).toContain(`entry ${secret!.entryId}: taken back with /undo`);
    const { removed, to } = (await inspector.diff("2.1", "3.1"))!;
    expect(to.happened).toEqual(["what was said last was taken back with /undo"]);
    expect(removed.map(({ why }) => why)).toEqual([
      expect.stringMatching(/^taken back with \/undo/),
    ]);
    expect(await inspector.trace(secret!.entryId)).toMatchObject({
      ...{ entry: { number: null }, left: secret!.why },
      ranges: [{ from: "2.1", to: "2.1", calls: 1 }],
    });
    const { output } = await clew(home, ["inspect", "main", "--find", "ZEBRA-88"]);
    expect(output).toContain(
      `Entry ${secret!.entryId}, user, says it and is not on the branch any more: taken back with /undo at 20`,
    );
    const { output: traced } = await clew(home, ["inspect", "main", "--entry", secret!.entryId]);
    expect(traced).toContain("It is not on the branch any more: taken back with /undo");
  });
});
