// The thread that finds out who keeps a gateway from answering.
import { closeSync, readFileSync, writeSync } from "node:fs";
import { type Debugger, Session } from "node:inspector/promises";
import { basename, isAbsolute, sep } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { enterSafeMode, suspectInSafeMode } from "../safe-mode.ts";
import { readAtWork, writeAtWork } from "./at-work.ts";
import { loopThreadTimes } from "./loop-thread.ts";
import { type Blame, type Frame, planBlame } from "./plan-blame.ts";
import {
  type Answering,
  ASKS,
  isNative,
  LATE,
  LOOKS_EVERY_MS,
  planAnswer,
  planLook,
  type Watched,
} from "./plan-look.ts";
import { addSample, NO_SAMPLES, planSample, type Sampling } from "./plan-samples.ts";
import {
  type AskedPort,
  BLOCKED_PROCESS,
  type BusyPlugin,
  CELL,
  type EndingSoon,
  type LastingChange,
  type NamedPlugin,
  OURS,
  type WatchdogOrder,
} from "./watchdog-order.ts";

// An import of it would load all that fetch is made of, 5 MB in each thread.
const { get } = process.getBuiltinModule("node:http");

/** A call that takes so long is noted, for the next start. */
const BUSY_MS = 500;
/** More of a stack is not looked at. */
const FRAMES = 200;

const order = workerData as WatchdogOrder;
const { home, cells, exitCode, token, ownFolder } = order;
let { limitMs } = order;
const plugins: NamedPlugin[] = [];
/** By plugin: what it changed that cannot be put back. */
const lasting = new Map<string, string>();
let port: number | null = null;
parentPort!.on("message", (message: NamedPlugin | LastingChange | AskedPort | EndingSoon) => {
  if ("pluginId" in message) plugins.push(message);
  else if ("changedBy" in message) noteLasting(message);
  else if ("endingMs" in message) limitMs = Math.min(limitMs, message.endingMs);
  else if (port === null && message.port !== null) {
    port = message.port;
    void askOnAndOn();
  } else port = message.port;
});

/** A language that does something else is not waited for: what is stored may be wrong. */
function noteLasting({ changedBy, name, isOfLanguage }: LastingChange): void {
  const [one] = changedBy;
  if (changedBy.length === 1) lasting.set(idOf(one!), name);
  if (!isOfLanguage || isActing) return;
  isActing = true;
  const ids = [...new Set(changedBy.map(idOf))].filter((id) => !isTrustedPlugin(id));
  const did = `changed ${name} so that it cannot be put back, and no code can be relied on after that`;
  if (ids.length > 0) void endFor(ids, did);
}

async function endFor(ids: readonly string[], did: string): Promise<void> {
  isAsking = true;
  const blame: Exclude<Blame, { kind: "ours" }> =
    ids.length === 1 ? { kind: "one", plugin: ids[0]! } : { kind: "some", plugins: ids };
  accuse(blame, { one: did, some: `runs where something ${did}` });
  await endBy(await interrupt());
}

let isActing = false;

/** Turns in a row that break: where it is known what may be why, and where it is not. */
const BROKEN_KNOWN = 3;
const BROKEN_UNKNOWN = 30;

/** A gateway that answers and in which no turn is completed any more is of no use, either. */
function lookAtTurns(): void {
  const broken = Atomics.load(cells, CELL.broken);
  const limit = lasting.size > 0 ? BROKEN_KNOWN : BROKEN_UNKNOWN;
  if (broken < limit || isActing || suspects().length === 0) return;
  isActing = true;
  const [changer] = lasting;
  const turns = `${broken} turns in a row broke off`;
  if (changer !== undefined && lasting.size === 1)
    void endFor([changer[0]], `changed ${changer[1]} so that it cannot be put back, and ${turns}`);
  else {
    isAsking = true;
    accuse(
      { kind: "some", plugins: suspects() },
      { one: "", some: `answers, and ${turns} by errors of its own` },
    );
    void interrupt().then(endBy);
  }
}

/** Those that could be at fault. */
const suspects = () => [
  ...new Set(plugins.filter(({ number }) => number !== OURS).map(({ pluginId }) => pluginId)),
];

/** What comes with Clew, by where it was loaded from. */
const isTrustedPlugin = (id: string) =>
  plugins.some(({ number, pluginId }) => number === OURS && pluginId === id);

/** Whom the gateway calls at this moment. */
function called(): string | null {
  const running = Atomics.load(cells, CELL.running);
  return plugins.find(({ number }) => number === running)?.pluginId ?? null;
}

let watched: Watched = {
  ...{ beats: -1, blockedMs: 0, wasDue: false },
  lookedAt: performance.now(),
};
let isAsking = false;
let queued = loopThreadTimes().queuedMs;
setInterval(() => {
  const beats = Atomics.load(cells, CELL.beats);
  const isHeld = isAsking || Atomics.load(cells, CELL.held) === 1;
  const before = queued;
  queued = loopThreadTimes().queuedMs;
  const { watched: now, isDue } = planLook(
    watched,
    { beats, now: performance.now(), isHeld, queuedMs: queued - before },
    limitMs,
  );
  watched = now;
  noteWhoIsBusy(now.blockedMs);
  lookAtTurns();
  void lookAtLoad();
  if (!isDue) return;
  isAsking = true;
  void act(now.blockedMs).finally(() => {
    isAsking = false;
    watched = { ...watched, beats, wasDue: true };
  });
}, LOOKS_EVERY_MS);

let sampling: Sampling = NO_SAMPLES;
let isSampling = false;

/** Who leaves others little of the loop, by looking now and then what runs in it. */
async function lookAtLoad(): Promise<void> {
  const now = performance.now();
  const load = Atomics.load(cells, CELL.load);
  if (isSampling || isAsking || suspects().length === 0) return;
  const plan = planSample(sampling, { load, now });
  sampling = plan.sampling;
  if (!plan.isDue) return;
  isSampling = true;
  isAsking = true;
  const asked = await interrupt();
  const blame = asked && blameFor(asked);
  asked?.goOn();
  isAsking = false;
  isSampling = false;
  const plugin = blame?.kind === "one" && !isTrustedPlugin(blame.plugin) ? blame.plugin : null;
  const found = addSample(sampling, { plugin, where: asked?.where ?? null });
  sampling = found.sampling;
  if (found.busy === undefined) return;
  const { plugin: busy, share, where } = found.busy;
  const at = where === null ? "" : `, for example at ${where}`;
  const message = `it leaves others little of the gateway's time: it was what ran in ${share} of 100 looks while the gateway had no rest${at}`;
  parentPort!.postMessage({ busy, message } satisfies BusyPlugin);
}

let noted: string | null = null;

/** A process that a plugin's call fills the memory of ends without a word, and not at once. */
function noteWhoIsBusy(blockedMs: number): void {
  const busy = blockedMs < BUSY_MS ? null : called();
  if (busy === noted) return;
  const atWork = readAtWork(home);
  // A start notes it by itself.
  if (atWork === undefined || atWork.isStarting) return;
  writeAtWork(home, { ...atWork, plugin: busy });
  noted = busy;
}

/** Ends the process, unless it is Clew itself that works for so long. */
async function act(blockedMs: number): Promise<void> {
  const seconds = Math.round(blockedMs / 1000);
  const asked = await interrupt();
  // It went on meanwhile.
  if (asked === undefined && Atomics.load(cells, CELL.beats) !== watched.beats) return;
  const where = asked?.where == null ? "" : `, at ${asked.where}`;
  const blame = blameFor(asked);
  // A database that is written anew may take its time; work on what plugins gave, not for ever.
  const isTrusted = blame.kind === "one" && isTrustedPlugin(blame.plugin);
  const isLate = blockedMs >= LATE * limitMs && suspects().length > 0;
  if (isTrusted || (blame.kind === "ours" && !isLate)) {
    say(`clew: the gateway itself has answered nobody for ${seconds} s${where}; please report it.`);
    asked?.goOn();
    return;
  }
  accuse(blame.kind === "ours" ? { kind: "some", plugins: suspects() } : blame, {
    one: `kept the gateway from answering for ${seconds} s${where}`,
    some:
      asked === undefined
        ? `was kept from answering for ${seconds} s by something outside JavaScript`
        : `has answered nobody for ${seconds} s${where}`,
  });
  await endBy(asked);
}

const blameFor = (asked: Interrupted | undefined): Blame =>
  planBlame(
    { frames: asked?.frames ?? [], context: asked?.context ?? null },
    { called: called(), ran: suspects() },
    {
      isOurs: (path) => path.startsWith(`${ownFolder}${sep}`),
      pluginAt: (path) => plugins.find(({ root }) => path.startsWith(`${root}${sep}`))?.pluginId,
    },
  );

async function endBy(asked: Interrupted | undefined): Promise<void> {
  // It ends with a word.
  writeAtWork(home, undefined);
  await asked?.end();
  // Once it was halted it ends by itself, with an exit code, as soon as it gets a processor.
  if (asked !== undefined) await nativeCode();
  process.kill(process.pid, "SIGKILL");
}

/** Until the gateway no longer means to answer. Nothing that plugins change is used here. */
async function askOnAndOn(): Promise<void> {
  const everyMs = limitMs / ASKS;
  let lastTurns = -1;
  let answering: Answering = { beats: Atomics.load(cells, CELL.beats), silentMs: 0 };
  for (;;) {
    await pause(everyMs);
    const at = port;
    if (at === null) return;
    const before = performance.now();
    const turns = Atomics.load(cells, CELL.turns);
    const isAnswered = (await isAnswering(at, limitMs)) && turns !== lastTurns;
    lastTurns = turns;
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

/** Which plugin it was cannot be told, unless one left behind what cannot be put back. */
async function actOnSilence(): Promise<void> {
  const seconds = Math.round(limitMs / 1000);
  const [changer] = lasting;
  if (suspects().length === 0) {
    say(`clew: the gateway runs and has answered nobody for ${seconds} s; please report it.`);
    return;
  }
  isAsking = true;
  const some = `has answered nobody for ${seconds} s, although it ran`;
  if (changer !== undefined && lasting.size === 1)
    accuse(
      { kind: "one", plugin: changer[0] },
      {
        one: `changed ${changer[1]} so that it cannot be put back, after which the gateway answered nobody for ${seconds} s`,
        some,
      },
    );
  else accuse({ kind: "some", plugins: suspects() }, { one: "", some });
  await endBy(await interrupt());
}

/** What was done, as the end of a sentence about the plugin, or about the gateway. */
function accuse(blame: Exclude<Blame, { kind: "ours" }>, did: { one: string; some: string }): void {
  const at = new Date().toISOString();
  const ids = blame.kind === "one" ? [blame.plugin] : blame.plugins;
  const found =
    blame.kind === "one"
      ? `Plugin "${blame.plugin}" ${did.one}`
      : `the gateway ${did.some}, and nothing shows which plugin is at fault`;
  const off = blame.kind === "one" ? "it" : ids.map((id) => `"${id}"`).join(", ");
  const commands = (does: string) => ids.map((id) => `"clew plugins ${does} ${id}"`).join(", ");
  try {
    if (blame.kind === "one") enterSafeMode(home, blame.plugin, { at, reason: did.one });
    else suspectInSafeMode(home, ids, { at, what: did.some });
    const each = ids.length > 1 ? " (one by one)" : "";
    say(
      `clew: stopping: ${found}; the next start leaves ${off} off (safe mode), until ${commands("enable")}${each}.`,
    );
  } catch (error) {
    const why = (error as Error).message;
    say(
      `clew: stopping: ${found}; that cannot be noted for the next start (${why}), so switch off ${off} yourself: ${commands("disable")}.`,
    );
  }
}

/** Resolves when only native code can be what keeps the process from halting, or from ending. */
async function nativeCode(): Promise<undefined> {
  const since = performance.now();
  const before = loopThreadTimes().cpuMs;
  for (;;) {
    await pause(LOOKS_EVERY_MS);
    const cpuMs = loopThreadTimes().cpuMs - before;
    if (isNative({ waitedMs: performance.now() - since, cpuMs })) return undefined;
  }
}

interface Interrupted {
  frames: readonly Frame[];
  context: string | null;
  where: string | null;
  goOn(): void;
  end(): Promise<void>;
}

/** Halts the blocked code as a debugger does; undefined: it does not let itself be halted. */
async function interrupt(): Promise<Interrupted | undefined> {
  const session = new Session();
  try {
    session.connectToMainThread();
    const scripts = new Map<string, Debugger.ScriptParsedEventDataType>();
    session.on("Debugger.scriptParsed", ({ params }) => void scripts.set(params.scriptId, params));
    const halted = new Promise<Debugger.CallFrame[]>((resolve) => {
      session.once("Debugger.paused", ({ params }) => resolve(params.callFrames));
    });
    const asked = session.post("Debugger.enable").then(() => session.post("Debugger.pause"));
    // What it fails by is told by nobody halting.
    asked.catch(() => {});
    const found = await Promise.race([halted, nativeCode()]);
    if (found === undefined) {
      session.disconnect();
      return undefined;
    }
    const sourceOf = async (scriptId: string) =>
      (await session.post("Debugger.getScriptSource", { scriptId })).scriptSource;
    const frames = await Promise.all(
      found.slice(0, FRAMES).map(async ({ functionName, location }): Promise<Frame> => {
        const { scriptId, lineNumber } = location;
        const path = pathOf(scripts.get(scriptId));
        const isOfFile = path !== null && (await isTextOf(path, () => sourceOf(scriptId)));
        return { functionName, line: lineNumber + 1, path, isOfFile };
      }),
    );
    const call = (what: string) =>
      session.post("Runtime.evaluate", {
        expression: `this[Symbol.for(${JSON.stringify(BLOCKED_PROCESS)})].${what}`,
        returnByValue: true,
      });
    const { result } = await call("context()");
    const context: unknown = result.value;
    return {
      frames,
      context: typeof context === "string" ? idOf(context) : null,
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

/** As safe mode knows it: a plugin may have several entries. */
const idOf = (entry: string): string =>
  plugins
    .map(({ pluginId }) => pluginId)
    .find((id) => entry === id || entry.startsWith(`${id}/`)) ?? entry;

/** Of the innermost frame that is in a file: "work (index.js:3)". */
function placeOf(frames: readonly Frame[]): string | null {
  const frame = frames.find(({ path }) => path !== null && isAbsolute(path));
  if (frame === undefined) return null;
  const place = `${basename(frame.path!)}:${frame.line}`;
  return frame.functionName === "" ? place : `${frame.functionName} (${place})`;
}

/** What code says that it is called does not count, only what it was loaded from. */
function pathOf(script: Debugger.ScriptParsedEventDataType | undefined): string | null {
  const { embedderName: url = "" } = (script ?? {}) as { embedderName?: string };
  try {
    const path = url.startsWith("file:") ? fileURLToPath(url) : url;
    return isAbsolute(path) || path.startsWith("node:") ? path : null;
  } catch {
    return null;
  }
}

/** Whether a file is really what runs; TypeScript is not, as it stands there. */
async function isTextOf(path: string, source: () => Promise<string>): Promise<boolean> {
  try {
    const bare = (text: string) => text.replace(/^\uFEFF/, "").trim();
    return bare(readFileSync(path, "utf8")) === bare(await source());
  } catch {
    return false;
  }
}

/** Whatever became of the stream: the process that it belongs to does not get to write. */
function say(line: string): void {
  try {
    writeSync(2, `${line}\n`);
  } catch {}
}
