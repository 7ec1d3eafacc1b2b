// A gateway as people run it, in a process and a home of its own.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = new URL("../../../../", import.meta.url).pathname;
const BUILT = join(ROOT, "apps/gateway/dist/main.js");

/**
 * The built gateway when there is a build, else its sources; `pnpm build` first for
 * figures that mean something.
 */
export function gatewayCommand(): string[] {
  return existsSync(BUILT)
    ? [BUILT]
    : ["--conditions=@clew/source", join(ROOT, "apps/gateway/src/main.ts")];
}

export interface RunningGateway {
  url: string;
  home: string;
  process: ChildProcess;
  /** Resident memory, bytes; Linux only, else NaN. */
  rss(): Promise<number>;
  /** The most it ever was. */
  peakRss(): Promise<number>;
  /** What it took of a processor so far; Linux only, else NaN. */
  processorMs(): Promise<number>;
  stop(): Promise<void>;
}

/** Resolves when the gateway has printed its address. */
export async function startGateway({
  home,
  config,
  probe,
}: {
  home?: string;
  config?: object;
  /** A module that is loaded first and is spoken to by messages. */
  probe?: string;
} = {}): Promise<RunningGateway> {
  const folder = home ?? (await newHome(config));
  const nodeArgs = probe === undefined ? [] : [`--import=${probe}`];
  const command = [...nodeArgs, ...gatewayCommand(), "start", "--port", "0"];
  const child = spawn(process.execPath, command, {
    env: { ...process.env, CLEW_HOME: folder },
    stdio: ["ignore", "pipe", "pipe", ...(probe === undefined ? [] : ["ipc" as const])],
  });
  const url = await addressOf(child);
  return {
    url,
    home: folder,
    process: child,
    rss: () => memoryOf(child.pid!, "VmRSS"),
    peakRss: () => memoryOf(child.pid!, "VmHWM"),
    processorMs: () => processorMsOf(child.pid!),
    async stop() {
      child.kill("SIGTERM");
      if (child.exitCode === null) await once(child, "exit");
      if (home === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

export async function newHome(config: object = {}): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "clew-bench-"));
  await writeFile(join(home, "clew.json"), JSON.stringify(config));
  return home;
}

/** Writes a session of `messages` messages under the short name "main". */
export async function writeSession(home: string, messages: number): Promise<void> {
  const folder = join(home, "agents/main/sessions");
  await mkdir(folder, { recursive: true });
  const header = {
    type: "session",
    version: 3,
    id: "bench-session",
    timestamp: new Date(0).toISOString(),
    cwd: home,
  };
  const lines = Array.from({ length: messages }, (_, index) => {
    const text = `Message ${index}: the file src/module-${index % 97}.ts was read, and line ${index} of it looked at for a while.`;
    const message =
      index % 2 === 0
        ? { role: "user", content: text, timestamp: index }
        : {
            role: "assistant",
            content: [{ type: "text", text }],
            stopReason: "stop",
            timestamp: index,
          };
    const parentId = index === 0 ? null : `m${index - 1}`;
    return {
      type: "message",
      id: `m${index}`,
      parentId,
      timestamp: new Date(index).toISOString(),
      message,
    };
  });
  await writeFile(
    join(folder, "bench-session.jsonl"),
    `${[header, ...lines].map((line) => JSON.stringify(line)).join("\n")}\n`,
  );
  await writeFile(
    join(folder, "sessions.json"),
    JSON.stringify({ "agent:main:main": { sessionId: "bench-session" } }),
  );
}

/** Sends one message and reads the stream to its end. Throws when the turn did not complete. */
export async function say(url: string, text: string, session = "main"): Promise<number> {
  const response = await fetch(`${url}/api/sessions/${session}/messages`, {
    method: "POST",
    // A connection kept between two messages may be closed just when the next one is sent.
    headers: { "content-type": "application/json", connection: "close" },
    body: JSON.stringify({ text }),
  });
  const body = await response.text();
  if (!body.includes('"outcome":"completed"'))
    throw new Error(`the turn did not complete: ${body.slice(-300)}`);
  return body.length;
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let printed = "";
    // Read on after the address: a closed pipe would end the gateway.
    child.stdout!.on("data", (chunk: Buffer) => {
      printed += String(chunk);
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(printed);
      if (found !== null) resolve(found[0]);
    });
    child.stderr!.resume();
    child.once("exit", () =>
      reject(new Error(`the gateway ended before it printed its address: ${printed}`)),
    );
  });
}

async function memoryOf(pid: number, field: "VmRSS" | "VmHWM"): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const kilobytes = new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1];
  return kilobytes === undefined ? Number.NaN : Number(kilobytes) * 1024;
}

/** Linux counts in hundredths of a second. */
const TICK_MS = 10;

/** NaN where the system does not tell. */
export async function processorMsOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The name, in parentheses, may hold spaces; user and system time are fields 14 and 15.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return TICK_MS * (Number(fields[11] ?? Number.NaN) + Number(fields[12] ?? Number.NaN));
}
