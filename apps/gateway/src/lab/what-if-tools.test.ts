import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ModelCallReport, TurnReport } from "@clew/engine-core";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { readEnvironment } from "../config/environment.ts";
import { checkConfigText } from "../config/load.ts";
import { startUpstream } from "../door/testing/upstream.ts";
import { REPORTS_START, readReports } from "../reports/read-reports.ts";
import { agentPaths } from "../sessions/paths.ts";
import { createSessionStore } from "../sessions/store.ts";
import { fileStorage } from "../storage/open-storage.ts";
import { clew } from "../testing/command.ts";
import { post, startTestGateway } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";
import { collectLog } from "../testing/plugins.ts";
import { playRecording } from "./play.ts";
import { readSessionRecording } from "./session-recording.ts";
import { planPlaySettings } from "./settings.ts";
import type { WhatIf } from "./shapes.ts";
import { runWhatIf } from "./what-if.ts";

/** More than a window of 12,000 tokens holds, so that an engine has to leave something out. */
const SAID = Array.from(
  { length: 7 },
  (_, at) => `Note ${at}: ${`berth ${at} is free at ${at + 9} o'clock. `.repeat(140)}`,
);

async function homeOf(engine: string, tokenRatio = 1): Promise<string> {
  const home = await temporaryHome();
  const { workspace } = agentPaths(home, "main");
  await mkdir(workspace, { recursive: true });
  await writeFile(join(workspace, "AGENTS.md"), "Answer briefly, and in whole sentences.");
  const models = { "offline/offline": { ratio: tokenRatio, samples: 1000 } };
  await writeFile(join(workspace, "..", "token-ratios.json"), JSON.stringify({ v: 1, models }));
  for (const [path, value] of [
    ["plugins.slots.contextEngine", engine],
    ["agents.defaults.contextTokens", "12000"],
  ])
    await clew(home, ["config", "set", path!, value!]);
  for (const text of SAID) await clew(home, ["chat", text]);
  return home;
}

async function reportsOf(home: string): Promise<TurnReport[]> {
  const { agentId, sessionId } = (await createSessionStore({ home }).read("main"))!;
  const reports: TurnReport[] = [];
  const folder = agentPaths(home, agentId).reports;
  await readReports(folder, sessionId, REPORTS_START, ({ report }) => void reports.push(report));
  return reports;
}

const whatIf = async (home: string, args: string[] = []): Promise<WhatIf> =>
  JSON.parse((await clew(home, ["whatif", "main", ...args, "--json"])).output) as WhatIf;

const sum = (items: ModelCallReport["tools"]) =>
  Math.round(items.reduce((all, { tokens }) => all + tokens, 0));

describe("what if another engine had answered", () => {
  it.each([
    ["legacy", "lossless"],
    ["lossless", "legacy"],
  ])("%s's session is played with the tools and the system text of %s", async (from, to) => {
    const fixedOf = (reports: readonly TurnReport[]) =>
      reports.flatMap(({ modelCalls }) =>
        modelCalls.map(({ system, tools }) => ({ system: sum(system), tools: sum(tools) })),
      );
    const home = await homeOf(from);
    const really = fixedOf(await reportsOf(await homeOf(to)));
    const { played } = await whatIf(home, ["--engine", to]);
    expect(played.points.map(({ tokens }) => tokens.tools)).toEqual(
      really.map(({ tools }) => tools),
    );
    // Folders of the two homes have names of their own.
    for (const [at, { tokens }] of played.points.entries())
      expect(Math.abs(tokens.system - really[at]!.system)).toBeLessThanOrEqual(8);
    // The lossless engine tells of its tools in the system text once it leaves something out.
    expect(new Set(really.map(({ system }) => system)).size).toBe(to === "lossless" ? 2 : 1);
    expect(really[0]!.system).toBeGreaterThan(70);
    expect(fixedOf(await reportsOf(home))).not.toEqual(really);
  });

  it("a session through the door is played with what its client said, and nothing of the host's", async () => {
    const upstream = await startUpstream((_heard, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const message = { role: "assistant", content: "Noted." };
      response.end(JSON.stringify({ choices: [{ message, finish_reason: "stop" }] }));
    });
    onTestFinished(upstream.close);
    const models = [{ id: "model", contextWindow: 32_000 }];
    const api = "openai-completions";
    const config = {
      models: { providers: { chat: { baseUrl: `${upstream.url}/v1`, api, apiKey: "k", models } } },
    };
    const { url, home, gateway } = await startTestGateway(config);
    const { workspace } = agentPaths(home, "main");
    await mkdir(workspace, { recursive: true });
    await writeFile(join(workspace, "AGENTS.md"), "Say nothing of this. ".repeat(50));
    const messages: object[] = [{ role: "system", content: "You mind the harbour's log." }];
    for (const content of ["Berth 4 is free.", "Berth 5 is taken."]) {
      messages.push({ role: "user", content });
      const body = { model: "model", messages };
      const reply = await fetch(`${url}/v1/chat/completions`, post(body));
      expect(reply.status).toBe(200);
      messages.push({ role: "assistant", content: "Noted." });
    }
    await gateway.door.settled();
    const { session, recording } = await vi.waitFor(async () => {
      const session = (await gateway.sessions())[0]!.key;
      const found = await readSessionRecording(fileStorage(home), { home, name: session });
      expect(found.turns.filter(({ steps }) => steps.length > 0)).toHaveLength(2);
      return { session, recording: found };
    }, 10_000);
    expect(recording.system).toEqual({ texts: ["You mind the harbour's log."], isAlone: true });
    const { played } = await runWhatIf({
      ...{ environment: readEnvironment({ CLEW_HOME: home }), log: collectLog(), session },
      ...{ loaded: checkConfigText(JSON.stringify(config), "clew.json") },
      ...{ ask: { engine: "legacy" }, signal: new AbortController().signal },
    });
    expect(played.points).toHaveLength(2);
    for (const { tokens } of played.points) {
      expect(tokens.system).toBeGreaterThan(0);
      expect(tokens.system).toBeLessThan(20);
      expect(tokens.tools).toBe(0);
    }
  });

  it("what was learned of its model's counts decides what a played call may take", async () => {
    const home = await homeOf("lossless", 2);
    const learned = (await reportsOf(home)).at(-1)!.budget!.tokenRatio;
    expect(learned).toBeGreaterThan(1.1);
    const { asItWas, played } = await whatIf(home);
    expect(asItWas.tokenRatio).toBe(learned);
    const { turns, tools } = await readSessionRecording(fileStorage(home), { home, name: "main" });
    const environment = readEnvironment({ CLEW_HOME: home });
    const loaded = planPlaySettings(checkConfigText("{}", "clew.json"), { engine: "lossless" });
    const { signal } = new AbortController();
    const play = (tokenRatio?: number) =>
      playRecording({
        ...{ environment, loaded, log: collectLog(), turns, tools, signal, tokenRatio },
        ...{ engine: "lossless", contextWindow: played.contextWindow },
      });
    const sizes = async (tokenRatio?: number) =>
      (await play(tokenRatio)).points.map(({ tokens }) => tokens.total);
    const largest = Math.max(...(await sizes()));
    expect(Math.max(...(await sizes(2)))).toBeLessThan(largest * 0.7);
    expect(Math.max(...played.points.map(({ tokens }) => tokens.total))).toBeLessThan(largest);
  });
});
