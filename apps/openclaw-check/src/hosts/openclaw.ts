// Drives the real OpenClaw, which npm fetched.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe } from "../../../gateway/src/plugins/install/npm.ts";
import { CONTEXT_WINDOW, type HostPlace, type Said, type TestedHost } from "./host.ts";
import { freePort, writeFiles } from "./place.ts";
import { run, start, stop, until, variablesFor, variablesForNpm } from "./process.ts";

const TOKEN = "test-token";
const SESSION = "agent:main:check";

/** Of this one the expectations tell. */
export const PINNED = "2026.9.6";

/** Absolute path of its program; fetches it once per version. Throws why it cannot be had. */
export async function fetchOpenClaw(version: string, cache: string): Promise<string> {
  const folder = join(cache, version);
  const program = join(folder, "node_modules/openclaw/openclaw.mjs");
  const isWhole = join(folder, "complete");
  if (existsSync(isWhole)) return program;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }');
  const what = `openclaw@${version}`;
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", ...PATIENCE, what];
  await npm(args, { cwd: folder, what });
  writeFileSync(isWhole, "");
  return program;
}

/** What the registry calls the newest. Throws why it does not say. */
export async function newestOpenClaw(cache: string): Promise<string> {
  mkdirSync(cache, { recursive: true });
  const args = ["view", ...PATIENCE, "openclaw", "dist-tags.latest"];
  const output = await npm(args, { cwd: cache, what: "openclaw" });
  const version = /^'?(\d+\.\d+\.\d+[\w.-]*)'?$/m.exec(output)?.[1];
  if (version === undefined)
    throw new Error(`npm does not say which openclaw is the newest: ${output.trim()}`);
  return version;
}

const PATIENCE = [
  ...["--fetch-retries=1", "--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=2000"],
  "--no-update-notifier",
];

/** What it prints. Throws one sentence about why it could not. */
async function npm(args: string[], { cwd, what }: { cwd: string; what: string }): Promise<string> {
  const place = { cwd, env: variablesForNpm(), timeoutMs: 30 * 60_000 };
  const { code, output } = await run("npm", args, place);
  if (code === 0) return output;
  throw new Error(
    code === null ? `${what}: ${output.trim().split("\n").at(-1)}` : describe(output, what),
  );
}

export async function openClaw(
  { folder, baseUrl, variables }: HostPlace,
  { program, version }: { program: string; version: string },
): Promise<TestedHost> {
  const [home, workspace] = [join(folder, "home"), join(folder, "ws")];
  const log = join(folder, "openclaw.log");
  const config = join(home, ".openclaw/openclaw.json");
  const port = await freePort();
  writeFiles(workspace);
  mkdirSync(join(home, ".openclaw"), { recursive: true });
  writeFileSync(config, JSON.stringify(settings({ port, log, workspace, baseUrl }), null, 2));
  const place = { cwd: folder, env: variablesFor(home, variables) };
  const command = (...args: string[]) => run(process.execPath, [program, ...args], place);
  const url = `http://127.0.0.1:${port}/v1`;
  const headers = {
    authorization: `Bearer ${TOKEN}`,
    "content-type": "application/json",
    "x-openclaw-session-key": SESSION,
  };
  let child: ReturnType<typeof start> | undefined;
  return {
    ...{ name: "openclaw", version },
    async install(archive) {
      const args = ["plugins", "install", archive, "--force", "--accept-capabilities"];
      const { code, output } = await command(...args);
      if (code !== 0) throw new Error(`"openclaw ${args.join(" ")}" failed: ${output}`);
    },
    async start() {
      const out = join(folder, "openclaw.out");
      child = start([program, "gateway", "run"], { ...place, log: out });
      await until("OpenClaw's gateway", child, async () => {
        const { status } = await fetch(`${url}/models`, { headers });
        return status === 200;
      });
    },
    async stop() {
      if (child !== undefined) await stop(child);
      child = undefined;
    },
    async say(text) {
      const body = { model: "openclaw/default", messages: [{ role: "user", content: text }] };
      return asked(url, { method: "POST", headers, body: JSON.stringify(body) });
    },
    async compact() {
      const { code, output } = await command("sessions", "compact", SESSION);
      return { ok: code === 0 && /Compacted session/.test(output), text: output.trim() };
    },
    readFile: (name) => ({ tool: "read", parameters: { path: name } }),
    async faultsOfEngine() {
      const lines = readFileSync(log, "utf8").split("\n");
      return lines
        .filter((line) =>
          /degraded to \\*"legacy\\*"|quarantin|durable turn advancement/.test(line),
        )
        .map((line) => `its log: ${messageIn(line)}`);
    },
  };
}

async function asked(url: string, init: RequestInit): Promise<Said> {
  const signal = AbortSignal.timeout(600_000);
  const response = await fetch(`${url}/chat/completions`, { ...init, signal });
  return { ok: response.ok, text: await response.text() };
}

function messageIn(line: string): string {
  try {
    return String((JSON.parse(line) as { message?: unknown }).message);
  } catch {
    return line;
  }
}

function settings({
  port,
  log,
  workspace,
  baseUrl,
}: {
  port: number;
  log: string;
  workspace: string;
  baseUrl: string;
}) {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  const model = {
    ...{ id: "gpt-fake", name: "Fake", reasoning: false, input: ["text"], cost },
    ...{ contextWindow: CONTEXT_WINDOW, maxTokens: 4096 },
  };
  return {
    gateway: {
      ...{ mode: "local", port, bind: "loopback", auth: { mode: "token", token: TOKEN } },
      http: { endpoints: { chatCompletions: { enabled: true } } },
    },
    update: { checkOnStart: false },
    logging: { file: log },
    // Plugins' tools would be found by a search only.
    tools: { toolSearch: false },
    agents: {
      defaults: {
        ...{ model: { primary: "fake/gpt-fake" }, workspace, skipBootstrap: true },
        // A made-up summary fails the other mode's checks.
        compaction: { mode: "default" },
      },
    },
    models: {
      mode: "merge",
      providers: {
        fake: { baseUrl, apiKey: "sk-local", api: "openai-completions", models: [model] },
      },
    },
  };
}
