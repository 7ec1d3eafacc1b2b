import { appendFile, cp, mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { ModelCallReport, ReportItem, TurnReport } from "@clew/engine-core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { describeContext } from "./context-view.ts";
import { expandLastRequest, foldMessages } from "./expand.ts";
import { openReportLog, readLastRequest, readPart, reportFile } from "./report-log.ts";

const item = (id: string): ReportItem => ({
  source: { kind: "entry", entryId: id },
  role: "user",
  reason: "history",
  tokens: 1,
  hash: id,
});

function call(index: number, kept: number, ids: string[]): ModelCallReport {
  return {
    index,
    durationMs: 1,
    system: [],
    tools: [],
    messages: { kept, items: ids.map(item), tokens: 0 },
    requestHash: String(index),
    policyChanges: [],
    usage: null,
    stopReason: "stop",
    error: null,
    retries: 0,
  };
}

function report(modelCalls: ModelCallReport[], turnId = "t"): TurnReport {
  return {
    v: 1,
    turnId,
    sessionId: "s",
    sessionKey: "agent:main:main",
    startedAt: "2026-01-01T00:00:00.000Z",
    durationMs: 1,
    hostMs: 1,
    outcome: "completed",
    reason: null,
    model: { requested: "a/b", resolved: "a/b", api: "offline" },
    engine: {
      configured: null,
      ran: "legacy",
      infoId: "legacy",
      name: "Legacy",
      source: "default",
      ownsCompaction: false,
      degraded: null,
      projection: null,
    },
    lifecycle: "eager",
    engineCalls: [],
    budget: null,
    promptEntryId: null,
    replyEntryId: null,
    historyChanges: [],
    modelCalls,
    toolCalls: [],
    compactions: [],
  };
}

const ids = (items: readonly ReportItem[] | null) => items?.map(({ hash }) => hash);

describe("the message list of a call", () => {
  it("is folded from deltas, whatever the requests were", () => {
    const requests = fc.array(fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 6 }), {
      minLength: 1,
      maxLength: 12,
    });
    fc.assert(
      fc.property(requests, (lists) => {
        const calls = lists.map((list, index) => {
          const previous = lists[index - 1] ?? [];
          const differs = list.findIndex((id, position) => id !== previous[position]);
          const kept =
            index === 0 ? 0 : differs < 0 ? Math.min(list.length, previous.length) : differs;
          return call(index, kept, list.slice(kept));
        });
        expect(ids(foldMessages(calls))).toEqual(lists.at(-1));
      }),
    );
  });

  it("is not guessed when no full list is there", () => {
    expect(foldMessages([call(5, 3, ["x"])])).toBeNull();
    expect(expandLastRequest([report([call(5, 3, ["x"])])])).toBe("incomplete");
    expect(expandLastRequest([report([])])).toBeNull();
  });
});

describe("stored reports", () => {
  it("come back as the last request, across a restart and a torn line", async () => {
    const folder = join(await temporaryHome(), "reports");
    expect(await readLastRequest(folder, "s")).toBeNull();
    const first = openReportLog(folder, "s");
    await first.append(report([call(0, 0, ["a"]), call(1, 1, ["b"])], "one"), {
      ab12: "part text",
    });
    await first.close();
    await appendFile(reportFile(folder, "s"), '{"v":1,"turnId":"to');
    const second = openReportLog(folder, "s");
    await second.append(report([call(2, 2, ["c"])], "two"), { ab12: "part text" });
    await second.append(report([], "three"), {});
    await second.close();
    const last = await readLastRequest(folder, "s");
    expect(last?.report.turnId).toBe("two");
    expect(ids(last?.messages ?? null)).toEqual(["a", "b", "c"]);
    expect(await readdir(join(folder, "parts"))).toEqual(["ab12"]);
    expect(await readPart(folder, "ab12")).toBe("part text");
    expect(await readPart(folder, "../s.jsonl")).toBeNull();
  });

  it("are read from the end as far back as a full list", async () => {
    const folder = join(await temporaryHome(), "reports");
    const log = openReportLog(folder, "s");
    const long = "x".repeat(3000);
    for (let index = 0; index < 300; index++)
      await log.append(report([call(index, index === 10 ? 0 : index, [`${index}${long}`])]), {});
    await log.close();
    const last = await readLastRequest(folder, "s");
    expect(last?.call.index).toBe(299);
    expect(ids(last?.messages ?? null)?.at(-1)).toMatch(/^299x/);
  });
});

describe("reports of an earlier release", () => {
  // Written by the core before 0.1: no `deliveries`, no `views`.
  const fixture = new URL("__fixtures__/v1-before-0.1.jsonl", import.meta.url);
  const earlier = async () => {
    const folder = join(await temporaryHome(), "reports");
    await mkdir(folder);
    await cp(fixture, reportFile(folder, "s"));
    return folder;
  };

  it("are read: the last call, what it was sent, and what became of the turn", async () => {
    const folder = await earlier();
    const last = (await readLastRequest(folder, "s"))!;
    const view = await describeContext(folder, { sessionId: "s", branch: [] }, last);
    expect(view).toMatchObject({
      outcome: "completed",
      engine: { ran: "tried", infoId: "example-delegating", degraded: null },
      budget: { contextWindow: 32_000, tokenBudget: 23_966 },
      call: { index: 4, stopReason: "stop" },
      turn: { modelCalls: 1, engineCalls: expect.any(Array) },
    });
    expect(view.messages.map(({ role }) => role).join(" ")).toBe(
      "user assistant user assistant toolResult assistant user assistant user",
    );
    expect(view.messages.at(-1)).toMatchObject({ code: "prompt", preview: "(no longer stored)" });
  });

  it("may be followed by this release's, whose calls are deltas to theirs", async () => {
    const folder = await earlier();
    const log = openReportLog(folder, "s");
    await log.append(report([call(5, 9, ["new"])], "next"), {});
    await log.close();
    const last = await readLastRequest(folder, "s");
    expect([last?.report.turnId, last?.messages.length]).toEqual(["next", 10]);
  });
});
