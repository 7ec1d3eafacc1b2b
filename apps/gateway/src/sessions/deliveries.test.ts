import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { openDeliveries } from "./deliveries.ts";

const branch: TranscriptEntry[] = ["a", "b", "c"].map((id, index, all) => ({
  id,
  parentId: all[index - 1] ?? null,
  timestamp: "",
  type: "message",
  message: { role: "user", content: id },
}));

const file = async () => join(await temporaryHome(), "outbox", "s.jsonl");

describe("the record of deliveries", () => {
  it("remembers per engine what it acknowledged and refused, across a restart", async () => {
    const path = await file();
    const first = await openDeliveries(path, []);
    expect(first.read("notes")).toBeUndefined();
    await first.save("notes", { kind: "seen", root: "s", ids: ["a"] });
    await first.save("notes", { kind: "acknowledged", ids: ["b"] });
    await first.save("notes", { kind: "refused", turnId: "c", reason: "busy", version: null });
    await first.save("other", { kind: "seen", root: "s", ids: [] });
    const second = await openDeliveries(path, []);
    expect(second.read("notes")).toEqual(first.read("notes"));
    expect([...second.read("notes")!.acknowledged]).toEqual(["a", "b"]);
    expect(second.read("notes")!.refused.get("c")).toMatchObject({ attempts: 1, reason: "busy" });
    expect(second.engines()).toEqual(["notes", "other"]);
  });

  it("skips a line that was cut off, and keeps the others", async () => {
    const path = await file();
    const first = await openDeliveries(path, []);
    await first.save("notes", { kind: "seen", root: "s", ids: ["a"] });
    await appendFile(path, '{"v":1,"engineId":"no');
    const second = await openDeliveries(path, []);
    expect([...second.read("notes")!.acknowledged]).toEqual(["a"]);
    await second.save("notes", { kind: "acknowledged", ids: ["b"] });
    const third = await openDeliveries(path, []);
    expect([...third.read("notes")!.acknowledged]).toEqual(["a", "b"]);
  });

  it("takes over how far engines had committed in an older file", async () => {
    const path = await file();
    await mkdir(dirname(path), { recursive: true });
    const older = path.replace(".jsonl", ".json");
    await writeFile(older, JSON.stringify({ v: 1, cursors: [{ engineId: "d", entryId: "b" }] }));
    const ledger = await openDeliveries(path, branch);
    expect([...ledger.read("d")!.acknowledged]).toEqual(["a", "b"]);
    expect(await readFile(`${older}.old`, "utf8")).toContain("cursors");
    expect([...(await openDeliveries(path, branch)).read("d")!.acknowledged]).toEqual(["a", "b"]);
  });
});
