import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { TurnReport } from "@clew/engine-core";
import { textOf } from "@clew/plugin-sdk/transcript";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { readEnvironment } from "../config/environment.ts";
import { checkConfigText } from "../config/load.ts";
import { createGateway } from "../create-gateway.ts";
import type { Gateway } from "../gateway.ts";
import { startPlugins } from "../plugins/start.ts";
import { REPORTS_START, readReports } from "../reports/read-reports.ts";
import { agentPaths } from "../sessions/paths.ts";
import { clew } from "../testing/command.ts";
import { homeWithOwnPort } from "../testing/home.ts";
import { collectLog, writePlugin } from "../testing/plugins.ts";
import { describeCosts } from "./describe-costs.ts";
import { readShadowLines, shadowFile, summarizeShadow } from "./shadow-lines.ts";
import { shadowHome } from "./shadow-player.ts";
import { runWhatIf } from "./what-if.ts";

const SAID = [
  "My cat is called Minka.",
  "It lives in src/harbour/lock-gate.ts.",
  "What is my cat called?",
];
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const NOW = Date.parse("2026-11-01T08:00:00.000Z");

const engine = (assemble: string) => `
  export default { id: "odd", register(api) {
    api.registerContextEngine("odd", () => ({
      info: { id: "odd", name: "Odd" },
      ingest: async () => ({ ingested: true }),
      assemble: ${assemble},
      compact: async () => ({ ok: true, compacted: false }),
    }));
  } };`;

interface Spoken {
  gateway: Gateway;
  home: string;
  log: ReturnType<typeof collectLog>;
  replies: string[];
  /** Of the requests to the model's server. */
  bodies: string[];
  reports: TurnReport[];
  transcript: string[];
}

/** Answers as a provider that speaks the common wire, and keeps every byte it is sent. */
async function startServer() {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    bodies.push(Buffer.concat(pieces).toString());
    response.writeHead(200, { "content-type": "text/event-stream" });
    const delta = { content: `answer ${bodies.length}` };
    const choice = { index: 0, delta, finish_reason: "stop" };
    response.end(`data: ${JSON.stringify({ choices: [choice] })}\n\ndata: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { baseUrl: `http://127.0.0.1:${port}/v1`, bodies };
}

const PRICED = {
  ...{ id: "small", contextWindow: 32_000 },
  cost: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
};

/** The same conversation, with a shadow or without one. */
async function speak(
  shadow: { engine: string; code?: string; shadowTurnMs?: number } | null,
): Promise<Spoken> {
  const { shadowTurnMs } = shadow ?? {};
  const home = await homeWithOwnPort();
  const paths =
    shadow?.code === undefined
      ? []
      : [writePlugin(join(home, "odd"), { id: "odd", code: shadow.code })];
  const { baseUrl, bodies } = await startServer();
  const settings = {
    models: { providers: { local: { baseUrl, apiKey: "any", models: [PRICED] } } },
    agents: {
      defaults: { model: "local/small", ...(shadow !== null && { shadowEngine: shadow.engine }) },
    },
    plugins: { load: { paths } },
  };
  await writeFile(join(home, "clew.json"), JSON.stringify(settings));
  const environment = readEnvironment({ CLEW_HOME: home });
  const loaded = checkConfigText(JSON.stringify(settings), "clew.json");
  const log = collectLog();
  const plugins = await startPlugins({ environment, loaded, log });
  const gateway = createGateway({ environment, loaded, log, plugins, shadowTurnMs });
  onTestFinished(() => gateway.close());
  const replies: string[] = [];
  for (const [at, content] of SAID.entries()) {
    vi.useFakeTimers({ toFake: ["Date"], now: NOW + at * 60_000 });
    const { reply } = await gateway.send({ key: "main", content });
    replies.push(textOf(reply!));
    vi.useRealTimers();
  }
  await gateway.shadows.settled();
  const { sessionId, branch } = (await gateway.store.read("main"))!;
  const reports: TurnReport[] = [];
  await readReports(agentPaths(home, "main").reports, sessionId, REPORTS_START, ({ report }) =>
    reports.push(report),
  );
  return {
    ...{ gateway, home, log, replies, reports },
    bodies: bodies.map((body) => body.replaceAll(sessionId, "session").replaceAll(home, "home")),
    transcript: branch.map((entry) =>
      JSON.stringify({ ...entry, id: 0, parentId: 0 })
        .replaceAll(/"id":"[0-9a-f]{8}"/g, '"id":0')
        .replaceAll(UUID, "uuid"),
    ),
  };
}

const linesOf = async ({ gateway, home }: Spoken) => {
  const { sessionId } = (await gateway.store.find("main"))!;
  return readShadowLines(shadowFile(home, "main", sessionId));
};

afterEach(() => void vi.useRealTimers());

describe("a shadow engine", () => {
  it("that shows the same costs the same, whatever the provider's cache gave the session", async () => {
    const { gateway } = await speak({ engine: "legacy" });
    const { summary, calls } = (await gateway.shadow("main", 10))!;
    expect(summary.calls).toBe(3);
    const { made, shadow } = summary.dollars!;
    expect(made).toBeGreaterThan(0);
    expect(shadow / made).toBeGreaterThan(0.97);
    expect(shadow / made).toBeLessThan(1.03);
    for (const call of calls) expect(call.made.cache.read > 0).toBe(call.shadow!.cache.read > 0);
  });

  it("is handed every turn once it is over, and compared call by call", async () => {
    const spoken = await speak({ engine: "lossless" });
    const lines = await linesOf(spoken);
    expect(lines.map(({ trouble }) => trouble)).toEqual([null, null, null]);
    const calls = lines.flatMap((line) => line.calls);
    expect(calls.map(({ made }) => made.id)).toEqual(["1.1", "2.1", "3.1"]);
    for (const { made, shadow } of calls) {
      expect(shadow).toMatchObject({ ofCall: made.id, fates: made.fates });
      expect(shadow!.tokens.messages).toBe(made.tokens.messages);
      // Its own tools are larger than the host's two, in whose place they are offered.
      expect(shadow!.tokens.tools).toBeGreaterThan(made.tokens.tools + 300);
    }
    const inspector = await spoken.gateway.inspect("main");
    const rows = (await inspector.calls({ limit: 10 }))!.calls;
    expect(calls.map(({ made }) => [made.fates, made.marks])).toEqual(
      rows.map((row) => [row.fates, row.marks]),
    );
    const view = await spoken.gateway.shadow("main", 2);
    expect(view).toMatchObject({ summary: { engine: "lossless", turns: 3, calls: 3 } });
    expect(view!.calls).toHaveLength(2);
    const status = await spoken.gateway.command("main", {
      ...{ kind: "command", name: "status", args: "" },
    });
    expect(status.text).toMatch(
      /Shadow engine: lossless: 3 calls compared, [\d,]+ tokens per call/,
    );
    await spoken.gateway.close();
    expect((await clew(spoken.home, ["doctor"])).output).toMatch(
      /shadow engine: .*3 calls compared/,
    );
    expect(existsSync(shadowHome(spoken.home, "lossless"))).toBe(true);
  });

  it.each([
    ["answers", "lossless", undefined, null],
    ["throws", "odd", engine('async () => { throw new Error("no index"); }'), /no index/],
    ["hands out rubbish", "odd", engine('async () => ({ messages: "none" })'), /./],
    [
      "hands out nothing",
      "odd",
      engine("async () => ({ messages: [], estimatedTokens: 0 })"),
      null,
    ],
    ["ends its process", "odd", engine("async () => process.exit(3)"), /process ended|exit/],
    ["never answers", "odd", engine("() => new Promise(() => {})"), /not finish a turn within 3 s/],
    ["never comes back", "odd", engine("() => { for (;;); }"), /not finish a turn within 3 s/],
    ["is not there", "nowhere", undefined, /nowhere/],
  ] as const)(
    "that %s changes no byte of request, reply and transcript",
    async (what, id, code, trouble) => {
      const alone = await speak(null);
      const spoken = await speak({
        engine: id,
        ...(code !== undefined && { code }),
        ...(what.startsWith("never") && { shadowTurnMs: 3000 }),
      });
      expect(spoken.bodies).toEqual(alone.bodies);
      expect(spoken.bodies).toHaveLength(3);
      expect(spoken.transcript).toEqual(alone.transcript);
      expect(spoken.replies).toEqual(alone.replies);
      expect(spoken.reports.map(({ engine: ran }) => ran)).toEqual(
        alone.reports.map(({ engine: ran }) => ran),
      );
      expect(spoken.gateway.host.quarantined()).toEqual([]);
      if (trouble === null) return;
      const { troubles } = summarizeShadow(await linesOf(spoken))!;
      expect(troubles.count).toBeGreaterThan(0);
      expect(troubles.last!.text).toMatch(trouble);
    },
  );
});

it("a session that is played as it was would cost what it would have, whatever the bill was", async () => {
  const { home, log } = await speak(null);
  const text = await readFile(join(home, "clew.json"), "utf8");
  const whatIf = await runWhatIf({
    ...{ environment: readEnvironment({ CLEW_HOME: home }), log, session: "main", ask: {} },
    ...{ loaded: checkConfigText(text, "clew.json"), signal: new AbortController().signal },
  });
  const { asItWas, played } = whatIf;
  expect(asItWas.expected).toBeGreaterThan(0);
  const costs = played.points.map(({ cost }) => cost!.total);
  expect(asItWas.each).toHaveLength(costs.length);
  for (const [at, { expected }] of asItWas.each.entries())
    expect(costs[at]! / expected!).toBeCloseTo(1, 1);
  expect(describeCosts(whatIf)).toMatch(/as it was it would be \$\S+ by the same reckoning/);
});
