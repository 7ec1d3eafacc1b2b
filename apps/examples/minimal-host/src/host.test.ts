import { createEngine } from "@clew/example-minimal-engine";
import { createLegacyEngine } from "@clew/legacy-engine";
import { textOf } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { createHost } from "./host.ts";

describe("the minimal host", () => {
  it("answers from what was said before, with an engine of its choice", async () => {
    const ask = createHost(createEngine);
    await ask("The parcel for Mr Ito is in locker 17.");
    await ask("Lunch is at noon.");
    const { reply, report, error } = await ask("Where is the parcel for Mr Ito?");
    expect(error).toBeNull();
    expect(textOf(reply!)).toContain("locker 17");
    expect(report.engine).toMatchObject({ ran: "mine", degraded: null });
  });

  it("still answers, and says so, when the engine breaks", async () => {
    const broken = () => ({
      ...createLegacyEngine(),
      info: { id: "mine", name: "Mine" },
      assemble: () => Promise.reject(new Error("no disk")),
    });
    const { reply, report } = await createHost(broken)("hello");
    expect(reply).not.toBeNull();
    expect(report.engine.degraded).toMatchObject({ operation: "assemble", reason: "no disk" });
  });

  it("goes on when the window is full, because it offers built-in compaction", async () => {
    const ask = createHost(() => ({
      ...createLegacyEngine(),
      info: { id: "mine", name: "Mine" },
    }));
    const results = [];
    for (let turn = 0; turn < 6; turn++)
      results.push(await ask(`Note ${turn}: ${"the tide is out at the old pier. ".repeat(1_000)}`));
    expect(results.map(({ outcome }) => outcome)).toEqual(Array(6).fill("completed"));
    expect(results.flatMap(({ report }) => report.compactions)).toContainEqual(
      expect.objectContaining({ compacted: true }),
    );
  });
});
