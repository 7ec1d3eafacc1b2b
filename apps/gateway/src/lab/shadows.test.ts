import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TurnReport } from "@clew/engine-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { readEnvironment } from "../config/environment.ts";
import { checkConfigText } from "../config/load.ts";
import { REPORTS_START, readReports } from "../reports/read-reports.ts";
import { agentPaths } from "../sessions/paths.ts";
import { createSessionStore } from "../sessions/store.ts";
import { clew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";
import { collectLog, writePlugin } from "../testing/plugins.ts";
import { readShadowLines, shadowFile } from "./shadow-lines.ts";
import { planTurns } from "./shadow-player.ts";
import { createShadows } from "./shadows.ts";

const HANGING = `
  export default { id: "odd", register(api) {
    api.registerContextEngine("odd", () => ({
      info: { id: "odd", name: "Odd" },
      ingest: async () => ({ ingested: true }),
      assemble: () => { for (;;); },
      compact: async () => ({ ok: true, compacted: false }),
    }));
  } };`;

describe("shadows of a gateway", () => {
  it("end a process whose engine never comes back, say so, and stop after three times", async () => {
    const home = await temporaryHome();
    await clew(home, ["chat", "hello"]);
    const folder = writePlugin(join(home, "odd"), { id: "odd", code: HANGING });
    const settings = {
      agents: { defaults: { shadowEngine: "odd" } },
      plugins: { load: { paths: [folder] } },
    };
    await writeFile(join(home, "clew.json"), JSON.stringify(settings));
    const environment = readEnvironment({ CLEW_HOME: home });
    const loaded = checkConfigText(JSON.stringify(settings), "clew.json");
    const log = collectLog();
    const shadows = createShadows({ environment, settings: () => loaded, log, turnMs: 4000 });
    onTestFinished(() => shadows.close());
    const { sessionId, sessionKey } = await sessionOf(home);
    const reports: TurnReport[] = [];
    await readReports(agentPaths(home, "main").reports, sessionId, REPORTS_START, (placed) =>
      reports.push(placed.report),
    );
    const report = reports[0]!;
    for (let turn = 0; turn < 5; turn++) {
      const started = performance.now();
      shadows.afterTurn({ agentId: "main", sessionId, sessionKey }, report);
      expect(performance.now() - started).toBeLessThan(50);
      await shadows.settled();
    }
    const lines = await readShadowLines(shadowFile(home, "main", sessionId));
    expect(lines).toHaveLength(3);
    expect(lines.at(-1)!.trouble).toMatch(/within 4 s; it is left out until a restart/);
    expect(log.lines.filter((line) => line.includes('shadow engine "odd"'))).toHaveLength(3);
  });
});

async function sessionOf(home: string) {
  const { sessionId, key } = (await createSessionStore({ home }).find("main"))!;
  return { sessionId, sessionKey: key };
}

describe("what a shadow is to play", () => {
  const turn = (promptEntryId: string) => ({
    ...{ prompt: { role: "user" as const, content: "x" }, promptEntryId, steps: [], after: [] },
  });
  const line = (promptEntryId: string, engine = "a") => ({
    ...{ v: 2 as const, at: "", engine, promptEntryId, calls: [], trouble: null, ms: 0 },
  });
  const turns = ["p1", "p2", "p3"].map(turn);

  it("is what came since the newest turn that it played, up to the one that is over", () => {
    const job = { engine: "a", promptEntryId: "p3" };
    expect(planTurns(turns, [line("p1")], job)).toEqual({ from: 1, to: 2, began: 0 });
    expect(planTurns(turns, [], { ...job, promptEntryId: "p2" })).toEqual({
      from: 0,
      to: 1,
      began: 0,
    });
    expect(planTurns(turns, [line("p3")], job)).toEqual({ from: 3, to: 2, began: 0 });
    expect(planTurns(turns, [line("p2", "b")], job)).toEqual({ from: 0, to: 2, began: 0 });
    const ended = { ...line(""), promptEntryId: null };
    expect(planTurns(turns, [line("p1"), ended], job)).toEqual({ from: 0, to: 2, began: 1 });
    expect(planTurns(turns, [ended, line("p1")], job)).toEqual({ from: 1, to: 2, began: 1 });
    expect(planTurns(turns, [line("gone")], { ...job, promptEntryId: "not there" }).to).toBe(-1);
  });
});
