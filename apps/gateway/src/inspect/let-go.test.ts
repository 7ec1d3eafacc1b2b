import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { keptAfter, olderReportFile } from "../reports/report-files.ts";
import { clew } from "../testing/command.ts";
import { startTestGateway } from "../testing/gateway.ts";
import { createInspector } from "./inspector.ts";
import type { SessionSource } from "./session-source.ts";

/** Turns until the oldest reports were let go, with compactions all the way. */
async function longSession() {
  const { home, say, get, gateway, stop } = await startTestGateway({
    agents: { defaults: { contextTokens: 32_000, compaction: { keepRecentTokens: 4000 } } },
    gateway: { limits: { reportBytes: 65_536 } },
  });
  await say("hello");
  const inspector = await gateway.inspect("main");
  const all = new Map<string, readonly string[]>();
  let letGo = 0;
  for (let turn = 1; letGo === 0 && turn < 400; turn++) {
    await say(turn % 5 === 0 ? "/compact" : `No. ${turn}: ${words(turn)}`);
    const page = (await inspector.calls({ limit: 10_000 }))!;
    letGo = page.letGoTurns;
    if (letGo === 0) for (const { id, happened } of page.calls) all.set(id, happened);
  }
  const { sessionId, branch } = (await gateway.store.read("agent:main:main"))!;
  const folder = join(home, "agents/main/reports");
  const source: SessionSource = { folder, sessionId, branch, allEntries: async () => branch };
  return { home, get, stop, inspector, source, all, letGo };
}

const words = (turn: number) =>
  Array.from({ length: 450 }, (_, at) => ((turn * 7919 + at * 104_729) % 99_991).toString(36)).join(
    " ",
  );

describe("the calls that are left when the oldest turns were let go", () => {
  it("tell only what came since the call before each, and that turns were let go", async () => {
    const { home, get, stop, inspector, source, all, letGo } = await longSession();
    const told = `turns 1–${letGo} were let go (gateway.limits.reportBytes)`;
    const page = (await inspector.calls({ limit: 10_000 }))!;
    const [first, ...others] = page.calls;
    expect(first!.turn).toBeGreaterThan(letGo);
    expect(first!.happened).toEqual([told, ...all.get(first!.id)!]);
    for (const { id, happened } of others) if (all.has(id)) expect(happened).toEqual(all.get(id));
    // Whoever reads the files anew is told the same.
    const anew = createInspector(async () => source);
    expect(await anew.calls({ limit: 10_000 })).toEqual(page);
    const found = await anew.find({ text: "No. 1: ", limit: 10 });
    expect(found).toMatchObject({ letGoTurns: letGo, calls: page.total });

    const gone = await get("/api/sessions/main/calls/1.1");
    expect([gone.status, await gone.text()]).toEqual([404, expect.stringContaining(told)]);
    await stop();
    const listed = await clew(home, ["inspect", "main"]);
    expect(listed.output).toContain(
      `Turns 1–${letGo} were let go (gateway.limits.reportBytes): their calls are neither listed`,
    );
    const one = await clew(home, ["inspect", "main", "--call", "1.1"]);
    expect(one.errors).toContain(`There is no call 1.1 in session "main": ${told}`);
    const text = await clew(home, ["inspect", "main", "--find", "No. 1: "]);
    expect(text.output).toContain("nobody can tell whether their calls showed it");
  });

  it("tell nothing from before their own turn where no report says where the last call was", async () => {
    const { stop, source, letGo } = await longSession();
    await stop();
    const { folder, sessionId } = source;
    expect((await keptAfter(folder, sessionId)).leafId).toBeTypeOf("string");
    const file = olderReportFile(folder, sessionId);
    // As earlier versions wrote it.
    writeFileSync(file, readFileSync(file, "utf8").replace(/,"leafId":"[^"]*"/, ""));
    const page = (await createInspector(async () => source).calls({ limit: 10_000 }))!;
    const [first] = page.calls;
    expect(first!.happened[0]).toContain(`turns 1–${letGo} were let go`);
    // A `/compact` whose report is kept is told of by that one.
    const compacted = first!.happened.filter((what) => what.startsWith("compaction"));
    expect(compacted).toHaveLength(first!.turn - letGo - 1);
  });
});
