// Puts one plugin to work as a person would, and tells what came of it.
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { createOpenAIEmulator, type Emulator } from "../../packages/providers/src/testing.ts";
import { cleanEnvironment, run, TookTooLong } from "../release/run.mjs";
import { startRemembering } from "./remembering.ts";
import type { Row } from "./rows.ts";
import type { Outcome } from "./table.ts";

const GUARD = pathToFileURL(join(import.meta.dirname, "only-loopback.mjs")).href;

/** What is shorter than fifty characters some take for nothing worth keeping. */
const FACT = "My boat is called Pelican, and she lies at the third berth of the harbour of Husum.";
const QUESTION = "What is my boat called?";
const TURNS = 8;
/** Of what is captured after a reply. */
const CAPTURE_MS = 5000;
const START_MS = 60_000;

interface Place {
  home: string;
  env: NodeJS.ProcessEnv;
  clew: string;
}

/** `spec`: what is installed. Nothing is kept of it. */
export async function tryPlugin(
  row: Row,
  { spec, scratch, clew }: { spec: string; scratch: string; clew: string },
): Promise<Outcome> {
  const home = join(scratch, `home-${row.name}`);
  await mkdir(home, { recursive: true });
  const env = cleanEnvironment(scratch, {
    ...{ HOME: home, CLEW_HOME: join(home, "clew"), NODE_OPTIONS: `--import=${GUARD}` },
    ...{ MEM0_TELEMETRY: "false", DO_NOT_TRACK: "1" },
  });
  const place = { home: join(home, "clew"), env, clew };
  const memory = await startRemembering();
  const model = await createOpenAIEmulator({ answers: obey });
  try {
    return await outcomeOf(row, { place, spec, memory: memory.url, model });
  } finally {
    await Promise.all([memory.close(), model.close()]);
  }
}

async function outcomeOf(
  row: Row,
  { place, spec, memory, model }: { place: Place; spec: string; memory: string; model: Emulator },
): Promise<Outcome> {
  const port = await freePort();
  await writeSettings(place, {
    gateway: { port },
    agents: { defaults: { model: "emulated/emulated" } },
    models: {
      providers: {
        emulated: { baseUrl: model.baseUrl, models: [{ id: "emulated", contextWindow: 100_000 }] },
      },
    },
  });
  const installed = await cli(place, ["plugins", "install", spec, "--yes", "--json"]);
  if (!installed.ok) return { version: null, installs: installed.text };
  const { pluginId, version } = JSON.parse(installed.text) as { pluginId: string; version: string };
  await settle(place, row, { pluginId, memory });

  const gateway = await startGateway(place, port);
  const about = { version, installs: true as const };
  try {
    const { plugins } = await ask<{ plugins: LoadedPlugin[] }>(port, "/api/plugins");
    const record = plugins.find(({ id }) => id === pluginId);
    if (record?.status !== "loaded")
      return { ...about, loads: record?.reason ?? "nobody knows of it" };
    const talked = await talk(row, { port, model, tools: record.tools });
    const complaints = await complaintsOf(place);
    await endGateway(gateway);
    const gone = await cli(place, ["plugins", "uninstall", pluginId]);
    return { ...about, loads: true, ...talked, complaints, uninstalls: gone.ok || gone.text };
  } finally {
    await endGateway(gateway);
  }
}

interface LoadedPlugin {
  id: string;
  status: string;
  reason: string | null;
  tools: string[];
}

/** What the plugin needs, beside what its install wrote. */
async function settle(
  place: Place,
  { config, settings, tool }: Row,
  { pluginId, memory }: { pluginId: string; memory: string },
): Promise<void> {
  const raw = JSON.parse(await readFile(join(place.home, "clew.json"), "utf8")) as {
    plugins: { entries: Record<string, object>; slots?: object };
  };
  const { slots } = (settings ?? {}) as { slots?: object };
  const entry = {
    ...raw.plugins.entries[pluginId],
    ...(config && { config: config(memory) }),
    hooks: { allowConversationAccess: true },
    ...(tool && { tools: { allow: [tool[0]] } }),
  };
  const entries = { ...raw.plugins.entries, [pluginId]: entry };
  const plugins = { ...raw.plugins, entries, slots: { ...raw.plugins.slots, ...slots } };
  await writeSettings(place, { ...raw, plugins });
}

async function talk(
  { tool }: Row,
  { port, model, tools }: { port: number; model: Emulator; tools: readonly string[] },
): Promise<Pick<Outcome, "turns" | "engine" | "tools" | "toolAnswers" | "remembers">> {
  const last = () => JSON.stringify(model.requests.at(-1)?.body ?? {});
  let completed = 0;
  const say = async (text: string, session: string) => {
    const events = await send(port, session, text);
    if (events.at(-1)?.outcome === "completed") completed++;
    return JSON.stringify(events);
  };
  await say(FACT, "one");
  const offered = tools.filter((name) => last().includes(`"name":"${name}"`));
  let remembers = false;
  let asked = 1;
  for (const until = Date.now() + CAPTURE_MS; !remembers && Date.now() < until; ) {
    await say(QUESTION, `two-${asked++}`);
    remembers = last().includes("Pelican");
    if (!remembers) await pause(250);
  }
  const called = tool && offered.includes(tool[0]) ? tool : undefined;
  const told = called && (await say(`RUN ${called[0]} ${JSON.stringify(called[1])}`, "one"));
  if (called !== undefined) asked++;
  while (asked < TURNS) {
    await say(`Note ${asked++}: the tide is high.`, "one");
  }
  const { engineId } = await ask<{ engineId: string }>(port, "/api/engine?session=one");
  return {
    turns: [completed, asked],
    engine: engineId,
    tools: offered.length,
    toolAnswers: told === undefined ? null : !/was not run|failed:|There is no tool/.test(told),
    remembers,
  };
}

async function complaintsOf(place: Place): Promise<string[]> {
  const { text } = await cli(place, ["doctor", "--json"]);
  const { findings } = JSON.parse(text) as {
    findings: { level: string; subject: string; text: string }[];
  };
  return findings
    .filter(
      ({ level, subject }) => /warning|failure/.test(level) && /^(engine|plugin)/.test(subject),
    )
    .map(({ subject, text: said }) => `${subject}: ${said}`);
}

/** Calls the tool that a line names, and repeats everything else. */
function obey({ body }: { body: unknown }) {
  const { messages } = body as { messages: { role: string; content: unknown }[] };
  const newest = messages.at(-1)!;
  const said = typeof newest.content === "string" ? newest.content : JSON.stringify(newest.content);
  const [, name, given] = (newest.role === "user" && /RUN (\w+) (\{.*\})/.exec(said)) || [];
  if (name === undefined) return { text: `heard: ${said.slice(0, 500)}` };
  const text = given!.replaceAll('\\"', '"');
  return { toolCalls: [{ name, arguments: JSON.parse(text) as Record<string, unknown> }] };
}

const writeSettings = async ({ home }: Place, settings: object) => {
  await mkdir(home, { recursive: true });
  await writeFile(join(home, "clew.json"), JSON.stringify(settings, null, 2));
};

/** Its output, or the sentence in which it failed. */
async function cli({ clew, env, home }: Place, args: readonly string[]) {
  try {
    const { stdout } = await run(process.execPath, [clew, ...args], { cwd: home, env });
    return { ok: true as const, text: stdout };
  } catch (error) {
    if (error instanceof TookTooLong) throw error;
    const lines = (error as Error).message.trim().split("\n");
    const text = lines.findLast((line) => line.startsWith("clew: ")) ?? lines.join("\n");
    // The doctor ends with a failure where it found one, and has said all the same.
    const { stdout = "" } = error as { stdout?: string };
    return { ok: false as const, text: args[0] === "doctor" ? stdout : text };
  }
}

async function startGateway({ clew, env, home }: Place, port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [clew, "start"], { cwd: home, env, stdio: "ignore" });
  const until = Date.now() + START_MS;
  while (Date.now() < until && child.exitCode === null) {
    const answer = await fetch(`http://127.0.0.1:${port}/api/health`).catch(() => undefined);
    if (answer?.ok) return child;
    await pause(100);
  }
  if (child.exitCode === null) {
    child.kill("SIGKILL");
    throw new TookTooLong("the gateway's start", START_MS / 1000);
  }
  throw new Error(`the gateway ended with exit code ${child.exitCode} when it was started`);
}

async function endGateway(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await ended;
}

async function ask<Answer>(port: number, path: string): Promise<Answer> {
  return (await (await fetch(`http://127.0.0.1:${port}${path}`)).json()) as Answer;
}

async function send(port: number, session: string, text: string) {
  const answer = await fetch(`http://127.0.0.1:${port}/api/sessions/${session}/messages`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text }),
  });
  const streamed = await answer.text();
  return streamed
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice(6)) as { type: string; outcome?: string });
}

function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    }),
  );
}
