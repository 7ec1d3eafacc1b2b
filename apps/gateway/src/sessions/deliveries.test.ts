import { appendFile, mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { openDeliveries, readDeliveries } from "./deliveries.ts";
import { describeNote } from "./notes.ts";

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
    const first = (await openDeliveries(path, [])).deliveries;
    expect(first.read("notes")).toBeUndefined();
    await first.save("notes", { kind: "seen", root: "s", ids: ["a"] });
    await first.save("notes", { kind: "acknowledged", ids: ["b"] });
    await first.save("notes", { kind: "refused", turnId: "c", reason: "busy", version: null });
    await first.save("other", { kind: "seen", root: "s", ids: [] });
    const second = (await openDeliveries(path, [])).deliveries;
    expect(second.read("notes")).toEqual(first.read("notes"));
    expect([...second.read("notes")!.acknowledged]).toEqual(["a", "b"]);
    expect(second.read("notes")!.refused.get("c")).toMatchObject({ attempts: 1, reason: "busy" });
    expect(second.engines()).toEqual(["notes", "other"]);
  });

  it("is mended when it is opened, and what was damaged is kept beside it, byte for byte", async () => {
    const path = await file();
    const first = (await openDeliveries(path, [])).deliveries;
    await first.save("notes", { kind: "seen", root: "s", ids: ["a"] });
    const garbage = Buffer.from([0x7b, 0xff, 0x00, 0x0a]);
    await appendFile(path, garbage);
    await first.save("notes", { kind: "acknowledged", ids: ["b"] });
    await appendFile(path, '{"v":2,"engineId":"notes","later":true}\n');
    await appendFile(path, '{"v":1,"engineId":"no');
    const { deliveries, notes } = await openDeliveries(path, []);
    expect([...deliveries.read("notes")!.acknowledged]).toEqual(["a", "b"]);
    const [note] = notes;
    if (note?.kind !== "deliveries-repaired") throw new Error("it was not repaired");
    expect(note.lines).toEqual([2, 5]);
    expect(describeNote(note)).toMatch(/^2 damaged lines of the record .* under the same ids\.$/);
    const torn = Buffer.from('{"v":1,"engineId":"no\n');
    expect(await readFile(note.keptIn)).toEqual(Buffer.concat([garbage, torn]));
    expect(await readFile(path, "utf8")).toContain('"later":true');
    expect((await openDeliveries(path, [])).notes).toEqual([]);
  });

  it("that cannot be read is left alone, and does not stop the session", async () => {
    const path = await file();
    await mkdir(path, { recursive: true });
    const { deliveries, notes } = await openDeliveries(path, []);
    expect(notes).toEqual([
      { kind: "deliveries-unreadable", file: path, reason: "it is a folder" },
    ]);
    await deliveries.save("notes", { kind: "seen", root: "s", ids: ["a"] });
    expect([...deliveries.read("notes")!.acknowledged]).toEqual(["a"]);
    expect((await readDeliveries(path)).engines()).toEqual([]);
  });

  it("keeps a whole last line that lacks its end", async () => {
    const path = await file();
    const first = (await openDeliveries(path, [])).deliveries;
    await first.save("notes", { kind: "seen", root: "s", ids: ["a"] });
    await writeFile(path, (await readFile(path, "utf8")).trimEnd());
    const { deliveries, notes } = await openDeliveries(path, []);
    expect(notes).toEqual([]);
    await deliveries.save("notes", { kind: "acknowledged", ids: ["b"] });
    expect([...(await readDeliveries(path)).read("notes")!.acknowledged]).toEqual(["a", "b"]);
  });

  it("skips a line that was cut off, and keeps the others", async () => {
    const path = await file();
    const first = (await openDeliveries(path, [])).deliveries;
    await first.save("notes", { kind: "seen", root: "s", ids: ["a"] });
    await appendFile(path, '{"v":1,"engineId":"no');
    const second = (await openDeliveries(path, [])).deliveries;
    expect([...second.read("notes")!.acknowledged]).toEqual(["a"]);
    await second.save("notes", { kind: "acknowledged", ids: ["b"] });
    const third = (await openDeliveries(path, [])).deliveries;
    expect([...third.read("notes")!.acknowledged]).toEqual(["a", "b"]);
  });

  it("takes over how far engines had committed in an older file", async () => {
    const path = await file();
    await mkdir(dirname(path), { recursive: true });
    const older = path.replace(".jsonl", ".json");
    await writeFile(older, JSON.stringify({ v: 1, cursors: [{ engineId: "d", entryId: "b" }] }));
    const ledger = (await openDeliveries(path, branch)).deliveries;
    expect([...ledger.read("d")!.acknowledged]).toEqual(["a", "b"]);
    expect(await readFile(`${older}.old`, "utf8")).toContain("cursors");
    expect([...(await openDeliveries(path, branch)).deliveries.read("d")!.acknowledged]).toEqual([
      "a",
      "b",
    ]);
  });
});
