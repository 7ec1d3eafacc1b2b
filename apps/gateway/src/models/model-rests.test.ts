import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ModelCallReport, TurnReport } from "@clew/engine-core";
import { describe, expect, it } from "vitest";
import { silentLog } from "../log/silent.ts";
import { temporaryHome } from "../testing/home.ts";
import { createModelRests, restsAfter } from "./model-rests.ts";

const log = silentLog;
const NOW = Date.UTC(2026, 10, 22);
const report = (more: Partial<TurnReport>) =>
  ({
    outcome: "completed",
    model: { requested: "a/1", resolved: "b/1", api: "x" },
    modelCalls: [],
    ...more,
  }) as unknown as Parameters<typeof restsAfter>[1];
const fellBack = report({
  recoveries: [
    { model: "a/1", kind: "overloaded", action: "fallback", to: "b/1", message: "no room" },
  ],
});

describe("what a turn teaches", () => {
  it("is who rests, and who answered", () => {
    const after = restsAfter({}, fellBack, NOW);
    expect(after).toMatchObject({ "a/1": { kind: "overloaded", failures: 1 } });
    expect(restsAfter(after, fellBack, NOW)).toMatchObject({ "a/1": { failures: 2 } });
    const back = report({ model: { requested: "a/1", resolved: "a/1", api: "x" } });
    expect(restsAfter(after, back, NOW)).toEqual({});
    expect(restsAfter({ "a/*": after["a/1"]! }, back, NOW)).toEqual({});
  });

  it("is the last one's failure, too", () => {
    const failed = report({
      outcome: "failed",
      code: "billing",
      modelCalls: [{ failure: { kind: "billing" } } as ModelCallReport],
    });
    expect(restsAfter({}, failed, NOW)).toMatchObject({ "b/*": { kind: "billing" } });
  });

  it("is nothing after remedies, aborts and failures of others", () => {
    const none = {};
    for (const nothing of [
      report({}),
      report({ outcome: "aborted", code: "aborted" }),
      report({ outcome: "failed", code: "engine" }),
      report({
        recoveries: [
          {
            ...{ model: "a/1", kind: "signature", action: "remedy" },
            ...{ remedy: "without-proofs", message: "" },
          },
        ],
      }),
    ])
      expect(restsAfter(none, nothing, NOW)).toBe(none);
  });

  it("lasts across restarts, until somebody ends it", async () => {
    const home = await temporaryHome();
    createModelRests({ home, log, now: () => NOW }).learn(fellBack);
    const again = createModelRests({ home, log });
    expect(again.all()).toMatchObject({ "a/1": { until: "2026-11-22T00:01:00.000Z" } });
    expect(again.end("b/1")).toBe(false);
    expect(again.end("a/1")).toBe(true);
    expect(again.all()).toEqual({});
  });

  it("is not believed from a file that makes no sense", async () => {
    const home = await temporaryHome();
    for (const text of ["", "{", '{"v":1,"models":{"a/1":{"until":"soon"}}}']) {
      await writeFile(join(home, "model-rests.json"), text);
      expect(createModelRests({ home, log }).all()).toEqual({});
    }
  });
});
