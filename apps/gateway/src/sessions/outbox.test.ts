import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { openOutbox } from "./outbox.ts";

const cursor = (entryId: string | null, engineId = "durable") => ({
  engineId,
  entryId,
  attempts: 0,
  lastError: null,
});

describe("the outbox", () => {
  it("remembers per engine how far it committed, across a restart", async () => {
    const file = join(await temporaryHome(), "outbox", "s.json");
    const first = await openOutbox(file);
    expect(first.cursor("durable")).toBeUndefined();
    await first.save(cursor("a"));
    await first.save(cursor(null, "other"));
    await first.save(cursor("b"));
    const second = await openOutbox(file);
    expect(second.cursor("durable")).toEqual(cursor("b"));
    expect(second.cursor("other")).toEqual(cursor(null, "other"));
  });

  it("that cannot be read counts as none and is kept aside", async () => {
    const file = join(await temporaryHome(), "s.json");
    await writeFile(file, "{");
    expect((await openOutbox(file)).cursor("durable")).toBeUndefined();
    expect(await readFile(`${file}.unreadable`, "utf8")).toBe("{");
  });
});
