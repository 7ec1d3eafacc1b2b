// Runs one client to its end in a home of its own, through the door or without it.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { cleanEnvironment, run } from "../release/run.mjs";
import type { Client, Fault } from "./clients.ts";
import { type ModelServer, startModelServer } from "./model-server.ts";
import { readSessions, type StoredSession } from "./read-sessions.ts";
import { startTap, type TappedAnswer } from "./tap.ts";
import { pathOf, type Task } from "./task.ts";

export interface ClientRun {
  client: Client;
  command: string;
  /** Of a folder in which the client works, what it is asked to do there. */
  plan: (folder: string) => Task;
  /** "alone": it asks the model server itself, and is told its window. */
  by: "door" | "door-recalling" | "alone";
  faults?: ReadonlyMap<number, Fault>;
}

export interface RunOutcome {
  /** Null: it was ended, as it took too long. */
  code: number | null;
  seconds: number;
  task: Task;
  model: Pick<ModelServer, "taken" | "refused">;
  /** What the client was answered. */
  answers: readonly TappedAnswer[];
  sessions: readonly StoredSession[];
  /** The end of what it printed. */
  said: string;
}

export const WINDOW = 32_000;
const LIMIT_MS = 180_000;
const CLEW = resolve(import.meta.dirname, "../../apps/gateway/dist/main.js");

export async function runClient(asked: ClientRun): Promise<RunOutcome> {
  const { client, by } = asked;
  const scratch = await mkdtemp(join(tmpdir(), "clew-clients-"));
  const work = join(scratch, "work");
  const home = join(scratch, "home");
  const task = asked.plan(work);
  const closing: (() => unknown)[] = [() => rm(scratch, { recursive: true, force: true })];
  try {
    await writeFiles(work, task);
    await mkdir(home);
    const faults = asked.faults ?? new Map<number, Fault>();
    const model = await startModelServer({ client, task, window: WINDOW, faults });
    closing.unshift(() => model.close());
    const config = configOf(client, model.url, by === "door-recalling");
    let port = model.port;
    if (by !== "alone") {
      const gateway = await startGateway(scratch, config);
      closing.unshift(() => gateway.stop());
      port = gateway.port;
    }
    const tap = await startTap({ port });
    closing.unshift(() => tap.close());
    const file = await connect(client, { scratch, home, config, port: tap.port });
    if (by === "alone") await tellWindow(home, file);
    closing.unshift(() => endStrays(home));
    const began = performance.now();
    const { code, said } = await ask(asked, { home, work, file, prompt: task.prompt });
    const seconds = (performance.now() - began) / 1_000;
    // What is stored is stored when the gateway has stopped.
    for (const close of closing.splice(0, closing.length - 1)) await close();
    const sessions = await readSessions(join(scratch, "clew-home"));
    return { code, seconds, task, model, answers: tap.answers, sessions, said };
  } finally {
    for (const close of closing) await close();
  }
}

async function writeFiles(work: string, { parts }: Task): Promise<void> {
  for (const [part, files] of parts) {
    await mkdir(join(work, `notes-${part}`), { recursive: true });
    for (const [at, { content }] of files.entries())
      await writeFile(pathOf(work, part, at + 1), content);
  }
}

function configOf({ api }: Client, baseUrl: string, recallTools: boolean) {
  const models = [{ id: "scripted", contextWindow: WINDOW }];
  const providers = { scripted: { baseUrl, api, apiKey: "own", models } };
  return { models: { providers }, door: { recallTools } };
}

async function startGateway(scratch: string, config: object) {
  const home = join(scratch, "clew-home");
  await mkdir(home);
  await writeFile(join(home, "clew.json"), JSON.stringify(config));
  const child = spawn(process.execPath, [CLEW, "start", "--port", "0"], {
    env: cleanEnvironment(scratch),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  const keep = (piece: Buffer) => {
    printed += String(piece);
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const port = () => /http:\/\/127\.0\.0\.1:(\d+)/.exec(printed)?.[1];
  const ended = once(child, "exit");
  while (port() === undefined && child.exitCode === null)
    await Promise.race([once(child.stdout, "data"), ended]);
  if (port() === undefined) throw new Error(`The gateway did not start:\n${printed}`);
  return {
    port: Number(port()),
    async stop() {
      child.kill("SIGTERM");
      await ended;
      if (child.exitCode !== 0) throw new Error(`The gateway ended with an error:\n${printed}`);
    },
  };
}

/** What a person is told to write is what is tried. Returns the file that a shell reads, if any. */
async function connect(
  { name }: Client,
  { scratch, home, config, port }: { scratch: string; home: string; config: object; port: number },
): Promise<string | undefined> {
  // Nothing runs in this home, so the address is that of its settings: the tap's.
  const own = join(scratch, "connect-home");
  await mkdir(own);
  await writeFile(join(own, "clew.json"), JSON.stringify({ ...config, gateway: { port } }));
  const told = ["connect", name, "--write", "--model", "scripted"];
  const env = { ...cleanEnvironment(scratch), HOME: home, CLEW_HOME: own };
  await run(process.execPath, [CLEW, ...told], { cwd: home, env });
  const files = await readdir(join(own, "connect")).catch(() => []);
  const file = files.find((each) => each.endsWith(".sh"));
  return file === undefined ? undefined : join(own, "connect", file);
}

/** Without a door its person tells the window that there is, where a client can be told. */
async function tellWindow(home: string, file: string | undefined): Promise<void> {
  const names = await readdir(home, { recursive: true, withFileTypes: true });
  const files = names.flatMap((each) => (each.isFile() ? [join(each.parentPath, each.name)] : []));
  for (const path of file === undefined ? files : [...files, file]) {
    const text = await readFile(path, "utf8");
    await writeFile(path, text.replaceAll("32000", "4096").replaceAll("1000000", String(WINDOW)));
  }
}

async function ask(
  { client, command, by }: ClientRun,
  {
    home,
    work,
    file,
    prompt,
  }: { home: string; work: string; file: string | undefined; prompt: string },
): Promise<{ code: number | null; said: string }> {
  const args = [command, ...client.args(prompt)];
  const [first, ...others] =
    file === undefined ? args : ["/bin/sh", "-c", `. '${file}'; exec "$@"`, "sh", ...args];
  const { PATH } = cleanEnvironment(home);
  const child = spawn(first!, others, {
    cwd: work,
    env: {
      ...{ PATH, HOME: home, TERM: "dumb", CI: "1" },
      ...client.env,
      ...(by === "alone" && client.ownWindow),
    },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (piece: Buffer) => {
      said = (said + String(piece)).slice(-2_000);
    });
  const late = setTimeout(() => endGroup(child), LIMIT_MS);
  const [code] = (await once(child, "exit")) as [number | null];
  clearTimeout(late);
  return { code, said };
}

function endGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, "SIGKILL");
}

/** Cline leaves one behind; whatever has this home was started here. Linux only. */
async function endStrays(home: string): Promise<void> {
  for (const pid of await readdir("/proc").catch(() => [])) {
    if (!/^\d+$/.test(pid)) continue;
    const variables = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
    if (!variables.split("\0").includes(`HOME=${home}`)) continue;
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // It ended by itself meanwhile.
    }
  }
}
