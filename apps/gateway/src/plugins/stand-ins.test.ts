// Plugins of our own in the shapes of eleven real ones, tried and put to work.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import { gatewayTools } from "../recall/gateway-tools.ts";
import { clew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";
import { bodyOf } from "../testing/memory.ts";
import { obedientModel, run } from "../testing/obedient-model.ts";
import { startPluginGateway, TIDEPOOL } from "../testing/plugins.ts";
import { startRememberingServer } from "../testing/remembering-server.ts";
import { readPluginFiles } from "./find/manifest.ts";
import { planSwitchOn } from "./install/settings.ts";
import { tryEntries } from "./install/try-plugin.ts";
import { undeclaredTools } from "./load/register.ts";

const STAND_INS = join(import.meta.dirname, "__fixtures__/stand-ins");

/** What a person sees of one plugin. */
interface Outcome {
  /** Sentences of its record; [] = all that it brings is used. */
  told: string[];
  /** Of the settings, after the install. */
  slots: object;
  tools: string[];
  /** What its tool says, or as much of it as is known; null = it is not called. */
  calls: string | null;
  /** Words of the chat and of the command line that answer. */
  words: string[];
  skills: string[];
  services: string[];
  /** Whose engine answers. */
  engine: string;
  /** What was said in one session is in a request of another one. */
  recalls: boolean;
  /** What it learned although nobody said it to this agent. */
  wronglyLearned: string[];
  /** A turn is answered while its server says nothing. */
  repliesWhileHanging: boolean;
}

interface Given {
  id: string;
  /** Absent: its own below STAND_INS. */
  folder?: string;
  /** `plugins.entries.<id>.config`, without the server. */
  config?: object;
  /** Absent: it is not told where a server is. */
  usesServer?: boolean;
  /** A tool to call, and what it then says. */
  tool?: [name: string, parameters: object, says: string];
  /** A line of the command line, and what it prints. */
  program?: [words: string[], prints: string];
  /** Further settings. */
  settings?: (home: string) => object;
  slots?: object;
  /** False: it is not made to know of other sessions. */
  recalls?: false;
}

const GIVEN: Record<string, Given> = {
  mem0: {
    id: "stand-in-mem0",
    config: { apiKey: "key" },
    usesServer: true,
    tool: ["memory_search", { query: "boat", limit: "1" }, "Pelican"],
    program: [["mem", "status", "--json"], '{"parent":"mem"}'],
  },
  honcho: {
    id: "stand-in-honcho",
    usesServer: true,
    program: [["honcho", "status"], "works in "],
  },
  supermemory: {
    id: "stand-in-supermemory",
    usesServer: true,
    tool: ["super_search", { query: "boat" }, "Pelican"],
    program: [["supermemory", "status"], "signed in"],
  },
  memos: {
    id: "stand-in-memos",
    usesServer: true,
    settings: () => ({ hooks: { internal: { enabled: true } } }),
  },
  "graph-memory": {
    id: "stand-in-graph-memory",
    slots: { contextEngine: "graph-memory" },
    tool: ["gm_search", { query: "boat" }, "Pelican"],
  },
  "memory-lancedb-pro": {
    id: "stand-in-lancedb-pro",
    config: { embedding: { apiKey: "key" }, sessionMemory: true },
    tool: ["memory_recall", { query: "boat", limit: "3" }, "Pelican"],
    program: [["memory-pro", "stats"], "0 memories"],
  },
  libravdb: {
    id: "stand-in-libravdb",
    tool: ["memory_search", { query: "boat" }, "Pelican"],
    program: [["memory", "libra"], "0 rows"],
  },
  hybrid: {
    id: "stand-in-hybrid",
    config: { embedding: { model: "small" } },
    program: [["hybrid-mem"], "0 facts"],
  },
  hindsight: {
    id: "stand-in-hindsight",
    usesServer: true,
    tool: ["hindsight_recall", { query: "boat" }, "hindsight_recall boat on clew"],
  },
  "lossless-claw 0.15": {
    id: "tidepool-context",
    folder: TIDEPOOL,
    tool: ["tide_grep", { word: "Pelican" }, "user: My boat is called Pelican."],
    recalls: false,
  },
  "lossless-claw-1": {
    id: "strata",
    recalls: false,
    tool: ["strata_grep", { query: "Pelican" }, "user: My boat is called Pelican."],
  },
};

const named = (prefix: string, names: string) => names.split(" ").map((name) => prefix + name);

/** Beside `WORKS`. */
const EXPECTED: Record<string, Partial<Outcome>> = {
  mem0: {
    slots: { memory: "stand-in-mem0" },
    tools: ["skill", ...named("memory_", "search add get list delete")],
    calls: "Pelican",
    words: ["mem status --json"],
    skills: ["memory-triage"],
    services: ["mem0"],
  },
  honcho: {
    told: [
      undeclaredTools([
        ...named("honcho_", "profile search recall analyze session context"),
        ...named("memory_", "search get"),
      ]),
    ],
    slots: { memory: "stand-in-honcho" },
    words: ["honcho status"],
  },
  supermemory: {
    told: [undeclaredTools(named("super-", "store search forget profile"))],
    slots: { memory: "stand-in-supermemory" },
    // Its memory can be neither searched nor read, but by its own tools.
    tools: named("super_", "store search forget profile"),
    calls: "Pelican",
    words: ["/remember", "/recall", "/supermemory", "supermemory status"],
    services: ["supermemory"],
  },
  memos: {},
  "graph-memory": {
    slots: { contextEngine: "graph-memory" },
    tools: named("gm_", "search record stats"),
    calls: "Pelican",
    engine: "graph-memory",
    // It asks nobody whose session it is.
    wronglyLearned: ["another session's child"],
  },
  "memory-lancedb-pro": {
    slots: { memory: "stand-in-lancedb-pro" },
    tools: [
      ...named("memory_", "search get recall store forget update list stats"),
      "self_improvement_log",
    ],
    calls: "Pelican",
    words: ["memory-pro stats"],
    services: ["stand-in-lancedb-pro"],
  },
  libravdb: {
    slots: { contextEngine: "libravdb-memory", memory: "stand-in-libravdb" },
    tools: named("memory_", "search get"),
    calls: "Pelican",
    words: ["memory libra"],
    engine: "libravdb-memory",
    wronglyLearned: ["another session's child"],
  },
  hybrid: {
    told: [
      "an HTTP route is registered as an object with path, handler and auth; this one is left out",
      expect.stringMatching(/^tools "hybrid_1", "hybrid_2", .* are left out/),
    ],
    slots: { memory: "stand-in-hybrid" },
    words: ["hybrid-mem"],
    services: ["hybrid"],
  },
  hindsight: {
    slots: { memory: "stand-in-hindsight" },
    tools: named("hindsight_", "retain recall reflect banks list get delete stats"),
    calls: "hindsight_recall boat on clew",
    services: ["hindsight-daemon"],
  },
  "lossless-claw 0.15": {
    slots: { contextEngine: "tidepool" },
    tools: ["skill", ...named("tide_", "grep count forget")],
    calls: "user: My boat is called Pelican.",
    words: ["/tidepool", "/rockpool", "/tide", "/pool"],
    skills: ["tidepool"],
    engine: "tidepool",
    recalls: false,
  },
  "lossless-claw-1": {
    slots: { contextEngine: "strata" },
    tools: ["skill", ...named("strata_", "grep describe expand expand_query")],
    calls: "user: My boat is called Pelican.",
    words: ["/strata", "/layers"],
    skills: ["strata"],
    engine: "strata",
    recalls: false,
  },
};

const WORKS: Outcome = {
  ...{ told: [], slots: {}, tools: [], words: [], skills: [], services: [], engine: "legacy" },
  ...{ calls: null, recalls: true, wronglyLearned: [], repliesWhileHanging: true },
};

/** A home with the settings that an install of the plugin leaves, once it was tried. */
async function install(
  name: string,
  { id, folder, config, usesServer, tool, settings, slots }: Given,
) {
  const home = await temporaryHome();
  // Some know no other place than the person's home.
  vi.stubEnv("HOME", home);
  const server = await startRememberingServer();
  const { server: model, config: ofModel } = await obedientModel();
  const files = readPluginFiles(folder ?? join(STAND_INS, name));
  const entry = {
    config: { ...config, ...(usesServer && { baseUrl: server.url }) },
    hooks: { allowConversationAccess: true },
    tools: { allow: tool === undefined ? [] : [tool[0]] },
  };
  const plugins = {
    load: { paths: [files.root] },
    entries: { [id]: entry },
    slots: { ...slots } as Record<string, string>,
  };
  const raw = { ...ofModel, ...settings?.(home), plugins };
  const trial = await tryEntries(files, { raw, entryConfig: entry, stateDir: join(home, "trial") });
  const { engines } = trial;
  for (const { path, value } of planSwitchOn({ manifest: files.manifest, engines, plugins }).steps)
    if (path[1] === "slots") plugins.slots[String(path[2])] = String(value);
  writeFileSync(join(home, "clew.json"), JSON.stringify(raw));
  return { home, server, model, raw };
}

/** Whoever learned it knows the cargo. */
const NOT_FOR_IT = {
  heartbeat: ["Cormorant", "quartzite"],
  "a failed turn": ["Gannet", "graphite"],
  "another session's child": ["Puffin", "basalt"],
} as const;

async function outcomeOf(name: string): Promise<Outcome> {
  const given = GIVEN[name]!;
  const { home, server, model, raw } = await install(name, given);
  const { gateway, plugins, say, stop } = await startPluginGateway(raw, home);
  plugins.startServices();
  const record = plugins.records().find(({ id }) => id === given.id)!;
  const seen = () => JSON.stringify(bodyOf(model.requests.at(-1)!).messages);

  const first = await say("My boat is called Pelican.", { session: "first" });
  const offered = first.report.modelCalls[0]!.tools.flatMap(({ source }) =>
    source.kind === "tool-schema" ? [source.name] : [],
  );
  const carries = (who: string, what: string) => `The ${who} carries ${what}.`;
  await gateway.send({
    ...{ key: "first", content: carries(...NOT_FOR_IT.heartbeat), kind: "heartbeat" },
  });
  await say(`${carries(...NOT_FOR_IT["a failed turn"])}\nFAIL`, { session: "failing" });
  const child = "agent:main:subagent:child";
  await gateway.send({
    ...{ key: child, content: carries(...NOT_FOR_IT["another session's child"]) },
  });
  // Nobody waits for what plugins make of a turn.
  let recalls = false;
  for (let attempt = 0; attempt < 20 && !recalls; attempt++) {
    await say("What is my boat called?", { session: `asking-${attempt}` });
    recalls = seen().includes("Pelican");
    if (!recalls && given.recalls === false) break;
    if (!recalls) await pause(50);
  }
  await say("What do Cormorant, Gannet and Puffin carry?", { session: "cargo" });
  const known = seen();
  const wronglyLearned = Object.entries(NOT_FOR_IT).flatMap(([from, [, cargo]]) =>
    known.includes(cargo) ? [from] : [],
  );

  const [tool, parameters, says] = given.tool ?? [];
  const reply = tool && JSON.stringify((await say(run(tool, parameters!))).reply);
  const answering: string[] = [];
  for (const word of record.commands) {
    const answer = await gateway.command("first", { kind: "command", name: word, args: "" });
    if (answer.ok) answering.push(`/${word}`);
  }
  server.hang();
  const asked = Date.now();
  const { outcome } = await say("Is the Pelican there?", { session: "hanging" });
  const repliesWhileHanging = outcome === "completed" && Date.now() - asked < 10_000;
  await stop();
  const [words, prints] = given.program ?? [[], ""];
  const printed = words.length === 0 ? "" : await printedBy(home, words);
  return {
    told: record.diagnostics.map(({ message }) => message),
    slots: raw.plugins.slots,
    tools: offered.filter((each) => !gatewayTools().includes(each)),
    calls: reply === undefined ? null : reply.includes(says!) ? says! : reply,
    words: [...answering, ...(printed.includes(prints) && prints !== "" ? [words.join(" ")] : [])],
    skills: [...record.skills],
    services: [...record.services],
    engine: first.report.engine.ran,
    recalls,
    wronglyLearned,
    repliesWhileHanging,
  };
}

/** Programs of plugins print by themselves. */
async function printedBy(home: string, words: readonly string[]): Promise<string> {
  const lines: string[] = [];
  const log = vi.spyOn(console, "log").mockImplementation((line) => void lines.push(String(line)));
  const { code, errors } = await clew(home, words);
  log.mockRestore();
  return code === 0 ? lines.join("\n") : errors;
}

describe("a plugin in the shape of", () => {
  it.each(Object.keys(GIVEN))("%s does its job", async (name) => {
    expect(await outcomeOf(name)).toEqual({ ...WORKS, ...EXPECTED[name] });
  });
});
