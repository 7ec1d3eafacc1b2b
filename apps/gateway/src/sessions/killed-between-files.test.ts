import { existsSync, readFileSync } from "node:fs";
import { messageId } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import { reportFile } from "../reports/report-log.ts";
import { startChild } from "../testing/child.ts";
import { temporaryHome } from "../testing/home.ts";
import { agentPaths } from "./paths.ts";
import { createSessionStore } from "./store.ts";

const WRITER = new URL("../testing/turn-writer.ts", import.meta.url);

/** Runs a turn in a process of its own; ids of the messages that its engine was told of. */
async function runTurn(home: string, text: string, killedAfter = "nothing"): Promise<string[]> {
  const child = startChild(WRITER, [home, text, killedAfter]);
  await child.exit;
  expect(child.process.signalCode ?? "none").toBe(killedAfter === "nothing" ? "none" : "SIGKILL");
  return child.lines;
}

/** What is on the disk: the transcript, what the engine acknowledged of it, and turn reports. */
async function onDisk(home: string) {
  const session = await createSessionStore({ home }).open({ key: "main", cwd: home });
  const { agentId, sessionId } = session.session;
  const file = reportFile(agentPaths(home, agentId).reports, sessionId);
  const ids = session
    .branch()
    .flatMap((entry) => (entry.type === "message" ? [messageId(entry.message)!] : []));
  const acknowledged = session.deliveries?.read("telling")?.acknowledged ?? new Set();
  await session.close();
  return {
    ids,
    acknowledged: ids.map((id) => acknowledged.has(id)),
    reports: existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n").length : 0,
  };
}

describe("a process killed between the files of one turn", () => {
  it("with the reply stored and not told leaves it to be told, and no report", async () => {
    const home = await temporaryHome();
    expect(await runTurn(home, "a", "reply")).toEqual([]);
    const { ids, ...rest } = await onDisk(home);
    expect(ids).toHaveLength(2);
    expect(rest).toEqual({ acknowledged: [false, false], reports: 0 });
    const told = await runTurn(home, "b");
    const after = await onDisk(home);
    expect(told).toEqual(after.ids);
    expect(after).toMatchObject({ acknowledged: [true, true, true, true], reports: 1 });
  });

  it("with the reply told and acknowledged tells it no second time, and has no report", async () => {
    const home = await temporaryHome();
    const told = await runTurn(home, "a", "acknowledgement");
    const { ids, ...rest } = await onDisk(home);
    expect(told).toEqual(ids);
    expect(rest).toEqual({ acknowledged: [true, true], reports: 0 });
    const later = await runTurn(home, "b");
    const after = await onDisk(home);
    expect([...told, ...later]).toEqual(after.ids);
    expect(after.reports).toBe(1);
  });
});
