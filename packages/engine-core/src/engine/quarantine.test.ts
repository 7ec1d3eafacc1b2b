import { describe, expect, it } from "vitest";
import { memoryLog } from "../__fixtures__/host.ts";
import { createQuarantine, type QuarantineRecord } from "./quarantine.ts";

function make() {
  let now = 0;
  const log = memoryLog();
  const told: QuarantineRecord[] = [];
  const quarantine = createQuarantine({
    log,
    clock: { now: () => now++, monotonic: () => 0 },
    fallbackId: "legacy",
    onSetAside: (record) => void told.push(record),
  });
  const fail = (operation: string, sessionKey?: string, error: unknown = "broken") =>
    quarantine.add({ engineId: "notes", owner: "plugin:notes", operation, sessionKey, error });
  return { quarantine, log, told, fail };
}

describe("an engine is set aside", () => {
  it.each(["bootstrap", "ingest", "afterTurn", "commitTurn", "assemble", "compact"])(
    "for the session in which %s failed, and for no other",
    (operation) => {
      const { quarantine, fail } = make();
      fail(operation, "a");
      expect(quarantine.get("notes", "a")).toMatchObject({ operation });
      expect(quarantine.get("notes", "b")).toBeUndefined();
      expect(quarantine.get("notes")).toBeUndefined();
    },
  );

  it.each(["resolve", "factory", "contract-validation", "info"])(
    "everywhere when %s failed",
    (operation) => {
      const { quarantine, fail } = make();
      fail(operation, "a");
      expect(quarantine.get("notes", "b")).toMatchObject({ scope: { kind: "everywhere" } });
    },
  );

  it("everywhere when no session is named", () => {
    const { quarantine, fail } = make();
    fail("assemble");
    expect(quarantine.get("notes")).toBeDefined();
  });

  it("everywhere at the third session, in place of what was said of the others", () => {
    const { quarantine, told, fail } = make();
    for (const sessionKey of ["a", "b", "b", "c", "d"]) fail("assemble", sessionKey);
    expect(told.map(({ scope }) => scope)).toEqual([
      { kind: "session", sessionKey: "a" },
      { kind: "session", sessionKey: "b" },
      { kind: "everywhere" },
    ]);
    expect(quarantine.list()).toHaveLength(1);
    expect(quarantine.get("notes", "e")).toBeDefined();
  });

  it("with the first failure as the reason, said once", () => {
    const { quarantine, log, fail } = make();
    fail("assemble", "a", "first");
    fail("afterTurn", "a", "second");
    expect(quarantine.get("notes", "a")).toMatchObject({ operation: "assemble", reason: "first" });
    expect(log.lines).toEqual([
      'error [context-engine] Context engine "notes" owner=plugin:notes failed during assemble: first; setting it aside for session a and falling back to default engine "legacy".',
    ]);
  });

  it("until it is given another chance, in one session or everywhere", () => {
    const { quarantine, fail } = make();
    fail("assemble", "a");
    fail("assemble", "b");
    quarantine.clear("notes", "a");
    expect([quarantine.get("notes", "a"), quarantine.get("notes", "b")?.operation]).toEqual([
      undefined,
      "assemble",
    ]);
    quarantine.clear("notes");
    expect(quarantine.list()).toEqual([]);
  });

  it("whatever its host's listener does", () => {
    const log = memoryLog();
    const quarantine = createQuarantine({
      ...{ log, clock: { now: () => 0, monotonic: () => 0 }, fallbackId: "legacy" },
      onSetAside: () => {
        throw new Error("no page is open");
      },
    });
    quarantine.add({ engineId: "notes", operation: "factory", error: "broken" });
    expect(quarantine.get("notes")).toBeDefined();
    expect(log.lines.at(-1)).toContain("no page is open");
  });
});
