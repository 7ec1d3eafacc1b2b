import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ContextEngine, messageId } from "@clew/plugin-sdk/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { MODEL, passThrough, type TestHost, testHost } from "../__fixtures__/host.ts";
import { compactSession, resolveContextEngine, type TranscriptStep } from "../index.ts";
import { type DatabaseTranscript, openDatabase } from "../testing/__fixtures__/database.ts";

const newFile = () => join(mkdtempSync(join(tmpdir(), "engine-core-")), "sessions.db");

/** A host whose store is one database, told to fail a step by `failing`. */
function open(
  overrides: Partial<ContextEngine>,
  { file = newFile(), failing = (_step: TranscriptStep): boolean => false } = {},
) {
  const told: string[] = [];
  const steps: string[] = [];
  const database = openDatabase(file);
  onTestFinished(() => database.close?.());
  const transcript: DatabaseTranscript = {
    ...database,
    append: () => Promise.reject(new Error("entries alone")),
    async appendStep(step) {
      const { entries, deliveries, report } = step;
      const roles = entries.map((entry) => (entry.type === "message" ? entry.message.role : ""));
      const kinds = deliveries.map(({ change }) => change.kind);
      steps.push([...roles, ...kinds, ...(report === null ? [] : ["report"])].join(" + "));
      if (failing(step)) throw new Error("the disk is full");
      return database.appendStep!(step);
    },
  };
  const engine = passThrough({
    info: { id: "test", name: "Test" },
    afterTurn({ messages, prePromptMessageCount }) {
      told.push(...messages.slice(prePromptMessageCount).map((each) => messageId(each)!));
    },
    ...overrides,
  });
  const host = testHost({
    engine,
    replies: ["one", "two", "three"],
    ports: { transcript } as unknown as TestHost["ports"],
    registry: { failurePolicy: () => "retry-next-turn" },
  });
  return { ...host, database, steps, told };
}

describe("a store that is one database", () => {
  it("is given what the engine acknowledged with the report that follows", async () => {
    const { say, steps, database } = open({});
    const first = await say("a");
    expect(steps).toEqual(["seen", "user", "assistant", "acknowledged + report"]);
    // What is stored with the report is told in it.
    expect(first.report).not.toHaveProperty("deliveries");
    await say("b");
    expect(steps.slice(4)).toEqual(["user", "assistant", "acknowledged + report"]);
    expect(database.reports()).toHaveLength(2);
    expect(database.reports()[0]).toBe(first.report.turnId);
  });

  it("is given what the engine caught up on with the prompt that follows", async () => {
    let isBroken = true;
    const { say, steps, told } = open({
      afterTurn({ messages, prePromptMessageCount }) {
        if (isBroken) throw new Error("no disk");
        told.push(...messages.slice(prePromptMessageCount).map((each) => messageId(each)!));
      },
    });
    await say("a");
    isBroken = false;
    await say("b");
    expect(steps.slice(3)).toEqual([
      "refused + report",
      "user + acknowledged",
      "assistant",
      "acknowledged + report",
    ]);
    expect(new Set(told).size).toBe(4);
  });

  it("is given it by itself before anything else that takes time", async () => {
    const { say, steps } = open({
      maintain: () => {
        steps.push("maintained");
        return { changed: false, bytesFreed: 0, rewrittenEntries: 0 };
      },
    });
    await say("a");
    expect(steps.slice(-3)).toEqual(["acknowledged", "maintained", "report"]);
  });

  it("that cannot store the end of a turn leaves the reply, and the engine is asked again", async () => {
    let isFull = true;
    const { say, told, log } = open({}, { failing: ({ report }) => report !== null && isFull });
    const first = await say("a");
    expect(first.outcome).toBe("completed");
    expect(log.lines.join("\n")).toContain(
      "error the end of a turn was not stored: the disk is full",
    );
    const [prompt, reply] = told;
    isFull = false;
    await say("b");
    expect(told.slice(0, 4)).toEqual([prompt, reply, prompt, reply]);
    expect(told).toHaveLength(6);
  });

  it("that cannot store a step in a turn stores the message after all", async () => {
    let failures = 0;
    const isBroken = { now: true };
    const { say, steps, database } = open(
      {
        afterTurn() {
          if (isBroken.now) throw new Error("no disk");
        },
      },
      {
        failing: ({ entries, deliveries }) => entries.length + deliveries.length > 1 && !failures++,
      },
    );
    await say("a");
    isBroken.now = false;
    const { error } = await say("b");
    expect(error).toMatchObject({ kind: "host", message: expect.stringContaining("disk is full") });
    expect(steps.slice(4)).toEqual(["user + acknowledged", "user + acknowledged", "report"]);
    expect(await database.read({ after: null })).toHaveLength(3);
  });

  it("is given the report of a compaction", async () => {
    const { say, registry, ports, state, database } = open({
      compact: () => ({ ok: true, compacted: false, reason: "nothing to do" }),
    });
    await say("a");
    const config = { plugins: { slots: { contextEngine: "test" } } };
    const engine = await resolveContextEngine({ registry, config });
    const { report } = await compactSession({ engine, ports, state, model: MODEL });
    expect(database.reports().at(-1)).toBe(report.turnId);
  });
});
