// The thread that finds out who keeps a gateway from answering.
import { closeSync, writeSync } from "node:fs";
import { get } from "node:http";
import { type Debugger, Session } from "node:inspector/promises";
import { basename, isAbsolute } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { enterSafeMode } from "../safe-mode.ts";
import { readAtWork, writeAtWork } from "./at-work.ts";
import {
  type Answering,
  ASKS,
  isNative,
  LOOKS_EVERY_MS,
  planAnswer,
  planLook,
  type Watched,
} from "./plan-look.ts";
import {
  type AskedPort,
  BLOCKED_PROCESS,
  CELL,
  type NamedPlugin,
  OURS,
  type WatchdogOrder,
} from "./watchdog.ts";

/** Time that a process gets to end by itself, once it was halted. */
const END_MS = 5000;
/** A call that takes so long is noted, for the next start. */
const BUSY_MS = 500;

const { home, limitMs, cells, exitCode, token } = workerData as WatchdogOrder;
const names: string[] = [];
let port: number | null = null;
parentPort!.on("message", (message: NamedPlugin | AskedPort) => {
  if ("pluginId" in message) names[message.number] = message.pluginId;
  else if (port === null && message.port !== null) {
    port = message.port;
    void askOnAndOn();
  } else port = message.port;
});

let watched: Watched = {
  ...{ beats: -1, blockedMs: 0, wasDue: false },
  lookedAt: performance.now(),
};
let isAsking = false;
setInterval(() => {
  const beats = Atomics.load(cells, CELL.beats);
  const isHeld = isAsking || Atomics.load(cells, CELL.held) === 1;
  const { watched: now, isDue } = planLook(
    watched,
    { beats, now: performance.now(), isHeld },
    limitMs,
  );
  watched = now;
  noteWhoIsBusy(now.blockedMs);
  if (!isDue) return;
  isAsking = true;
  void act(now.blockedMs).finally(() => {
    isAsking = false;
    watched = { ...watched, beats, wasDue: true };
  });
}, LOOKS_EVERY_MS);

let noted: string | null = null;

/** A process that a plugin's call fills the memory of ends without a word, and not at once. */
function noteWhoIsBusy(blockedMs: number): void {
  const running = blockedMs < BUSY_MS ? undefined : names[Atomics.load(cells, CELL.running)];
  const busy = running ?? null;
  if (busy === noted) return;
  const { plugin, before } = readAtWork(home);
  if (plugin === noted) writeAtWork(home, { plugin: busy, before });
  // A start notes it by itself.
  else if (busy !== null) return;
  noted = busy;
}

/** Ends the process, unless it is Clew itself that works for so long. */
async function act(blockedMs: number): Promise<void> {
  const seconds = Math.round(blockedMs / 1000);
  const asked = await interrupt();
  // It went on meanwhile.
  if (asked === undefined && Atomics.load(cells, CELL.beats) !== watched.beats) return;
  const running = Atomics.load(cells, CELL.running);
  const who = asked === undefined ? (names[running] ?? null) : asked.who;
  const where = asked?.where == null ? "" : `, at ${asked.where}`;
  // A database that is written anew may take its time.
  const isOurs = asked !== undefined || running === OURS || names.length === 0;
  if (who === null && isOurs) {
    say(`clew: the gateway itself has answered nobody for ${seconds} s${where}; please report it.`);
    asked?.goOn();
    return;
  }
  if (who === null)
    say(
      `clew: stopping: for ${seconds} s something outside JavaScript has kept the gateway from answering${suspects()}.`,
    );
  else accuse(who, `kept the gateway from answering for ${seconds} s${where}`);
  await asked?.end();
  await pause(asked === undefined ? 0 : END_MS);
  process.kill(process.pid, "SIGKILL");
}

/** Until the gateway no longer means to answer. Nothing that plugins change is used here. */
async function askOnAndOn(): Promise<void> {
  const everyMs = limitMs / ASKS;
  let answering: Answering = { beats: Atomics.load(cells, CELL.beats), silentMs: 0 };
  for (;;) {
    await pause(everyMs);
    const at = port;
    if (at === null) return;
    const before = performance.now();
    const isAnswered = await isAnswering(at, limitMs);
    const isHeld = isAsking || Atomics.load(cells, CELL.held) === 1;
    const beats = Atomics.load(cells, CELL.beats);
    const tookMs = everyMs + performance.now() - before;
    const asked = { answered: isHeld ? null : isAnswered, beats, tookMs };
    const plan = planAnswer(answering, asked, limitMs);
    answering = plan.answering;
    if (plan.isDeaf && port !== null) return actOnSilence();
  }
}

function isAnswering(at: number, withinMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(withinMs);
    const request = get({ host: "127.0.0.1", port: at, path: "/api/health", agent: false, signal });
    request.on("error", () => resolve(false));
    request.on("response", (response) => {
      response.on("error", () => resolve(false));
      response.on("end", () => resolve((response.statusCode ?? 500) < 500));
      response.resume();
    });
  });
}

/** Which plugin it was cannot be told, only which one ran last. */
async function actOnSilence(): Promise<void> {
  const seconds = Math.round(limitMs / 1000);
  const last = names[Atomics.load(cells, CELL.last)];
  if (last === undefined) {
    say(`clew: the gateway runs and has answered nobody for ${seconds} s; please report it.`);
    return;
  }
  isAsking = true;
  accuse(
    last,
    `was the last to run before the gateway answered nobody for ${seconds} s, and may be the cause`,
  );
  const asked = await interrupt();
  await asked?.end();
  await pause(asked === undefined ? 0 : END_MS);
  process.kill(process.pid, "SIGKILL");
}

const suspects = () =>
  names.length === 0 ? "" : `; plugins that ran: ${names.filter(Boolean).join(", ")}`;

/** `did`: what it did, as the end of a sentence. */
function accuse(pluginId: string, did: string): void {
  const found = `Plugin "${pluginId}" ${did}`;
  try {
    enterSafeMode(home, pluginId, { at: new Date().toISOString(), reason: did });
    say(
      `clew: stopping: ${found}; the next start leaves it off (safe mode), until "clew plugins enable ${pluginId}".`,
    );
  } catch (error) {
    const why = (error as Error).message;
    say(
      `clew: stopping: ${found}; that cannot be noted for the next start (${why}), so switch it off yourself: clew plugins disable ${pluginId}.`,
    );
  }
}

/** Resolves when it is certain that only native code can be what does not let itself be halted. */
async function nativeCode(): Promise<undefined> {
  const since = performance.now();
  const before = process.cpuUsage();
  for (;;) {
    await pause(LOOKS_EVERY_MS);
    const { user, system } = process.cpuUsage(before);
    const cpuMs = (user + system) / 1000;
    if (isNative({ waitedMs: performance.now() - since, cpuMs })) return undefined;
  }
}

interface Interrupted {
  who: string | null;
  where: string | null;
  goOn(): void;
  end(): Promise<void>;
}

/** Halts the blocked code as a debugger does; undefined: it does not let itself be halted. */
async function interrupt(): Promise<Interrupted | undefined> {
  const session = new Session();
  try {
    session.connectToMainThread();
    const urls = new Map<string, string>();
    session.on("Debugger.scriptParsed", ({ params }) => void urls.set(params.scriptId, params.url));
    const halted = new Promise<Debugger.CallFrame[]>((resolve) => {
      session.once("Debugger.paused", ({ params }) => resolve(params.callFrames));
    });
    const asked = session.post("Debugger.enable").then(() => session.post("Debugger.pause"));
    // What it fails by is told by nobody halting.
    asked.catch(() => {});
    const found = await Promise.race([halted, nativeCode()]);
    if (found === undefined) return undefined;
    const frames = found.map(({ functionName, location }) => ({
      functionName,
      line: location.lineNumber + 1,
      path: pathOf(urls.get(location.scriptId) ?? ""),
    }));
    const stack = frames.map(({ path }) => path).join("\n");
    const call = (what: string) =>
      session.post("Runtime.evaluate", {
        expression: `globalThis[Symbol.for(${JSON.stringify(BLOCKED_PROCESS)})].${what}`,
        returnByValue: true,
      });
    const { result } = await call(`who(${JSON.stringify(stack)})`);
    const value: unknown = result.value;
    return {
      who: typeof value === "string" ? value : null,
      where: placeOf(frames),
      goOn: () => session.disconnect(),
      async end() {
        // Node would speak of a debugger.
        closeSync(2);
        call(`end(${JSON.stringify(token)}, ${exitCode})`).catch(() => {});
      },
    };
  } catch {
    return undefined;
  }
}

interface Frame {
  functionName: string;
  line: number;
  /** Empty: it is in no file. */
  path: string;
}

/** Of the innermost frame that is in a file: "work (index.js:3)". */
function placeOf(frames: readonly Frame[]): string | null {
  const frame = frames.find(({ path }) => isAbsolute(path));
  if (frame === undefined) return null;
  const place = `${basename(frame.path)}:${frame.line}`;
  return frame.functionName === "" ? place : `${frame.functionName} (${place})`;
}

function pathOf(url: string): string {
  try {
    return fileURLToPath(url);
  } catch {
    return url;
  }
}

/** Whatever became of the stream: the process that it belongs to does not get to write. */
function say(line: string): void {
  try {
    writeSync(2, `${line}\n`);
  } catch {}
}
