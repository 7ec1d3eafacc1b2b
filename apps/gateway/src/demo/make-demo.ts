// Makes the demo session by playing its story through a host of its own.
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ToolPort, TurnReport } from "@clew/engine-core";
import type { ContextEngine } from "@clew/plugin-sdk/core";
import type { ModelRef, ToolDefinition } from "@clew/plugin-sdk/host";
import { composeHost } from "../compose.ts";
import type { Environment } from "../config/environment.ts";
import { checkConfigText } from "../config/load.ts";
import type { Prices } from "../costs/prices.ts";
import type { AnswerRequest, Host } from "../host/host.ts";
import { silentLog } from "../log/silent.ts";
import { withSessionTools } from "../recall/session-tools.ts";
import { countedIds } from "../replay/counted-ids.ts";
import { createPlayedCache, type PlayedCache } from "../replay/prompt-cache.ts";
import { type ReplayResult, runReplay } from "../replay/run-replay.ts";
import { openReportLog } from "../reports/report-log.ts";
import type { OpenSession } from "../sessions/open.ts";
import { agentFolder, agentPaths } from "../sessions/paths.ts";
import { createSessionStore } from "../sessions/store.ts";
import { createDemoModel } from "./demo-model.ts";
import { DEMO_AGENT, DEMO_KEY, DEMO_MODEL, markDemo } from "./demo-place.ts";
import { inventStory, type Story, type StoryTurn } from "./story.ts";

const WINDOW = 48_000;
const FAULTY_ENGINE = "demo-faulty-engine";

const CONFIG = {
  models: { providers: { anthropic: { apiKey: "nobody is asked" } } },
  agents: {
    defaults: {
      model: DEMO_MODEL,
      contextTokens: WINDOW,
      systemPrompt:
        "You are a coding agent in the project tidebook, which prints tide tables for a small harbour. Read before you edit, and run the tests of what you changed.",
      contextPruning: { mode: "cache-ttl", minPrunableToolChars: 8_000 },
    },
  },
};

export interface DemoRequest {
  environment: Environment;
  signal: AbortSignal;
  /** When its last message came, ms since the epoch. */
  endsAt: number;
}

export interface MadeDemo extends ReplayResult {
  /** Calls besides those that were answered. */
  refused: number;
}

/** Appears whole or not at all; what was there before is replaced. */
export async function makeDemo(request: DemoRequest): Promise<MadeDemo> {
  const { home } = request.environment;
  await mkdir(home, { recursive: true, mode: 0o700 });
  const making = await mkdtemp(join(home, ".demo-"));
  try {
    const result = await playStory(making, request);
    const place = agentFolder(home, DEMO_AGENT);
    await mkdir(dirname(place), { recursive: true, mode: 0o700 });
    await rm(place, { recursive: true, force: true });
    await rename(agentFolder(making, DEMO_AGENT), place);
    await markDemo(home, "made");
    return result;
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}

async function playStory(
  home: string,
  { environment, signal, endsAt }: DemoRequest,
): Promise<MadeDemo> {
  const story = inventStory(endsAt);
  const host = composeHost({
    environment: { ...environment, home, configFile: join(home, "clew.json") },
    loaded: checkConfigText(JSON.stringify(CONFIG), "clew.json"),
    // What goes wrong in it was planted.
    log: silentLog,
    ownEngines: { [FAULTY_ENGINE]: faultyEngine },
  });
  const { model, prices } = host.model(DEMO_AGENT);
  const now = { ms: story.turns[0]!.prompt.timestamp as number };
  const session = await createSessionStore({ home }).open({
    ...{ key: DEMO_KEY, cwd: "tidebook" },
    ...{ now: () => now.ms, newId: countedIds() },
  });
  const { agentId, sessionId } = session.session;
  const reports = openReportLog(agentPaths(home, agentId).reports, sessionId);
  try {
    const told = asTold(host, { story, session, model, prices, now });
    let made = 0;
    const watch = {
      onCall: () => {},
      onReport({ modelCalls }: TurnReport) {
        made += modelCalls.length;
      },
    };
    const played = await runReplay({
      ...{ host: told, session, reports, model, turns: story.turns, signal, watch },
    });
    return { ...played, refused: made - played.calls.length };
  } finally {
    await session.close();
    await reports.close();
    await host.close();
  }
}

interface Telling {
  story: Story;
  session: OpenSession;
  model: ModelRef;
  /** Of the model; null = not known. */
  prices: Prices | null;
  /** What the clock of the session says. */
  now: { ms: number };
}

/** The host, with what the story adds to each turn of the recording. */
function asTold(host: Host, telling: Telling): Host {
  const cache = createPlayedCache();
  let next = 0;
  const answer = (request: AnswerRequest) => {
    const turn = telling.story.turns[next++]!;
    return host.answer(withIncident(request, turn, { ...telling, cache }));
  };
  return { ...host, answer };
}

function withIncident(
  request: AnswerRequest,
  { incident }: StoryTurn,
  { session, model: { contextWindow }, prices, now, cache }: Telling & { cache: PlayedCache },
): AnswerRequest {
  const { replacement } = request;
  if (replacement === undefined) return request;
  const clock = {
    ...replacement.clock,
    now: () => (now.ms = Math.max(now.ms, replacement.clock.now())),
  };
  const base: ToolPort = { list: () => TOOLS, run: (call) => replacement.tools.run(call) };
  return {
    ...request,
    ...(incident === "engine-fails" && { engine: FAULTY_ENGINE }),
    replacement: {
      ...{ ...replacement, clock },
      tools: withSessionTools({ ...{ base, contextWindow }, branch: session.branch }),
      model: createDemoModel({
        ...{ played: replacement.model, cache, prices, incident },
        now: clock.now,
      }),
    },
  };
}

/** Fails in the middle of its first turn, so that there is something to see. */
const faultyEngine = (): ContextEngine => ({
  info: { id: FAULTY_ENGINE, name: "Engine that fails for the demo" },
  ingest: async () => ({ ingested: true }),
  assemble: async () => {
    throw new Error("planted by the demo: its index cannot be read");
  },
  compact: async () => ({ ok: true, compacted: false, reason: "it never does" }),
});

const text = (name: string) => ({
  type: "object",
  properties: { [name]: { type: "string" } },
  required: [name],
});

const TOOLS: readonly ToolDefinition[] = [
  { name: "read_file", description: "Returns a file with line numbers.", parameters: text("path") },
  { name: "search_files", description: "Lines in which a text stands.", parameters: text("text") },
  {
    name: "edit_file",
    description: "Replaces a text that stands in the file once.",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string" },
        before: { type: "string" },
        after: { type: "string" },
      },
      required: ["path", "before", "after"],
    },
  },
  {
    name: "run_command",
    description: "Runs a command and returns its output.",
    parameters: text("command"),
  },
];
