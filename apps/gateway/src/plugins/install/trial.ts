// Runs a plugin once in a process of its own, before it is installed or switched on.
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { z } from "zod";
import { visible } from "../../text/visible.ts";
import type { PluginFiles } from "../find/manifest.ts";
import { pluginsFolder } from "../find/records.ts";
import { invalidPlugin } from "../invalid.ts";
import { variablesWithStateDir } from "../load/state-dir.ts";
import { firstChanged, lookAtFiles } from "./own-files.ts";
import { residentMib } from "./resident-memory.ts";
import { endTrialPrograms, TRIAL_VARIABLE } from "./trial-programs.ts";

export interface Trial {
  engines: string[];
  tools: string[];
  /** Of these, those that did not say that they only read. */
  asking: string[];
  /** Engines that store turns and cannot be told each exactly once; looked for if asked. */
  unkeyed: string[];
  /** Worth knowing, no reason to refuse. */
  warnings: string[];
}

export interface TrialSettings {
  raw: unknown;
  entryConfig: { config?: unknown; hooks?: unknown } | undefined;
  /** True: engines are told a message to see whether they store it. Absent: false. */
  asksStores?: boolean;
}

/** What the process is given before it is ended. */
export interface TrialBounds {
  deadlineMs: number;
  /** Of what JavaScript makes. */
  heapMib: number;
  /** Of everything, buffers and native code included. Absent: 512 more than of the other. */
  residentMib?: number;
}

const BOUNDS: TrialBounds = { deadlineMs: 60_000, heapMib: 512 };
const LOOKS_EVERY_MS = 100;

/** What the process is told, once. */
export interface TrialOrder {
  files: PluginFiles;
  settings: TrialSettings & { stateDir: string };
  deadlineMs: number;
  /** Comes back with the answer: the plugin does not know it. */
  token: string;
}

const AnswerSchema = z.object({
  token: z.string(),
  result: z.union([
    z.object({
      ok: z.literal(true),
      trial: z.object({
        engines: z.array(z.string()),
        tools: z.array(z.string()),
        asking: z.array(z.string()),
        unkeyed: z.array(z.string()),
        warnings: z.array(z.string()),
      }),
    }),
    z.object({ ok: z.literal(false), reason: z.string() }),
  ]),
});
export type TrialAnswer = z.infer<typeof AnswerSchema>;

/**
 * The plugin's own files go to a folder that is thrown away. Throws PLUGIN_INVALID with
 * everything that is wrong.
 */
export async function tryPlugin(
  files: PluginFiles,
  { home, ...settings }: TrialSettings & { home: string },
  bounds: TrialBounds = BOUNDS,
): Promise<Trial> {
  const stateDir = join(pluginsFolder(home), `.trial-${randomBytes(4).toString("hex")}`);
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const token = randomBytes(16).toString("hex");
  const { deadlineMs } = bounds;
  const order = { files, settings: { ...settings, stateDir }, deadlineMs, token };
  const { id } = files.manifest;
  const before = lookAtFiles(files.root);
  const child = startTrial(stateDir, bounds);
  try {
    const end = await outcome(child, order, residentBound(bounds));
    if (end.kind !== "answered") throw invalidPlugin(describeEnd(id, end, bounds));
    if (!end.result.ok) throw invalidPlugin(planReason(files, end.result.reason));
    endTree(child, stateDir);
    const changed = firstChanged(before, lookAtFiles(files.root));
    if (changed !== null)
      throw invalidPlugin(
        `Plugin "${id}" was tried in a process of its own and changed or removed its own file ${visible(changed)}, so it is not what was looked at; nothing was changed, and its author should be told.`,
      );
    const { trial } = end.result;
    return { ...trial, warnings: trial.warnings.map(shown) };
  } finally {
    endTree(child, stateDir);
    rmSync(stateDir, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** A group of its own, so that nothing it began outlives it; what it prints is nobody's. */
function startTrial(stateDir: string, { heapMib }: TrialBounds): ChildProcess {
  const program = createRequire(import.meta.url).resolve("#trial-process");
  const source = program.endsWith(".ts") ? ["--conditions=@clew/source"] : [];
  const node = [...source, "--disable-warning=ExperimentalWarning"];
  return spawn(process.execPath, [`--max-old-space-size=${heapMib}`, ...node, program], {
    detached: process.platform !== "win32",
    env: { ...variablesWithStateDir(stateDir), [TRIAL_VARIABLE]: stateDir },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
}

type TrialEnd =
  | { kind: "answered"; result: TrialAnswer["result"] }
  | { kind: "ended"; code: number | null; signal: string | null; errors: string }
  | { kind: "late" }
  | { kind: "large" };

const MAX_ERRORS = 64 * 1024;

const residentBound = ({ heapMib, residentMib = heapMib + 512 }: TrialBounds) => residentMib;

function outcome(child: ChildProcess, order: TrialOrder, mostMib: number): Promise<TrialEnd> {
  const { promise, resolve, reject } = Promise.withResolvers<TrialEnd>();
  let errors = "";
  child.stderr?.on("data", (piece) => {
    errors = `${errors}${piece}`.slice(-MAX_ERRORS);
  });
  child.on("message", (message) => {
    const { data } = AnswerSchema.safeParse(message);
    if (data?.token === order.token) resolve({ kind: "answered", result: data.result });
  });
  child.on("close", (code, signal) => resolve({ kind: "ended", code, signal, errors }));
  child.on("error", reject);
  // A process that is gone already is known by its end.
  child.send(order satisfies TrialOrder, () => {});
  const timer = setTimeout(() => resolve({ kind: "late" }), order.deadlineMs);
  const looks = setInterval(() => {
    if ((residentMib(child.pid ?? 0) ?? 0) > mostMib) resolve({ kind: "large" });
  }, LOOKS_EVERY_MS);
  return promise.finally(() => {
    clearTimeout(timer);
    clearInterval(looks);
  });
}

/** Pure. */
function describeEnd(
  pluginId: string,
  end: Exclude<TrialEnd, { kind: "answered" }>,
  bounds: TrialBounds,
): string {
  const { deadlineMs, heapMib } = bounds;
  const tried = `Plugin "${pluginId}" was tried in a process of its own and`;
  const next = "; nothing was changed, and its author should be told";
  if (end.kind === "late")
    return `${tried} did not come to an end within ${deadlineMs / 1000} s${next}.`;
  if (end.kind === "large")
    return `${tried} needed more than ${residentBound(bounds)} MiB of memory${next}.`;
  if (/heap out of memory|Allocation failed/.test(end.errors))
    return `${tried} needed more than ${heapMib} MiB of memory${next}.`;
  const how = end.signal === null ? `exit code ${end.code}` : end.signal;
  return `${tried} ended that process (${how})${next}.`;
}

/**
 * Pure. Names the plugin, whatever its code made of the sentence, and its files as its author knows
 * them: where they are now nobody finds them afterwards.
 */
function planReason({ root, manifest }: PluginFiles, reason: string): string {
  const pluginId = manifest.id;
  const text = shown(reason.replaceAll(`file://${root}/`, "").replaceAll(`${root}/`, ""));
  return text.includes(pluginId) ? text : `Plugin "${pluginId}" does not load: ${text}`;
}

const MOST_SHOWN = 2000;

/** Pure. Words of the plugin must not steer a terminal. */
const shown = (text: string): string =>
  visible(text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text);

/** What it started, with itself. */
function endTree(child: ChildProcess, stateDir: string): void {
  endGroup(child);
  endTrialPrograms(stateDir);
}

function endGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined && process.platform !== "win32")
      process.kill(-child.pid, "SIGKILL");
    else child.kill("SIGKILL");
  } catch {
    // It is over.
  }
}
