// Plants a mutant in an engine and tells whether the conformance kit finds it.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PlacedMutant } from "./generate.ts";
import type { MutantResult } from "./run.ts";

const CHECK = "packages/plugin-sdk/src/testing/check/main.ts";
/** The whole kit on the slowest engine, on a busy machine. */
const TIMEOUT_MS = 900_000;

/** The file is put back whatever happens, also when `signal` ends the run. */
export async function tryByKit(
  root: string,
  { start, end, ...mutant }: PlacedMutant,
  entries: readonly string[],
  signal: AbortSignal,
): Promise<MutantResult> {
  const path = join(root, mutant.file);
  const text = readFileSync(path, "utf8");
  const began = performance.now();
  writeFileSync(path, text.slice(0, start) + mutant.replacement + text.slice(end));
  try {
    let by: string | undefined;
    for (const entry of entries) {
      by = await findsIn(root, entry, signal);
      if (by !== undefined) break;
    }
    const ms = Math.round(performance.now() - began);
    return by === undefined
      ? { ...mutant, verdict: "survived", ms }
      : { ...mutant, verdict: "killed", ms, by };
  } finally {
    writeFileSync(path, text);
  }
}

/** What failed first; undefined = nothing did. */
function findsIn(root: string, entry: string, signal: AbortSignal): Promise<string | undefined> {
  const args = ["--conditions=@clew/source", "--no-warnings", CHECK, "check", entry];
  const options = ["--bail", "--json", "--timeout", "30"];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...args, ...options], {
      ...{ cwd: root, detached: true },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [out, err] = ["", ""];
    child.stdout.on("data", (part) => {
      out += part;
    });
    child.stderr.on("data", (part) => {
      err = `${err}${part}`.slice(-2_000);
    });
    const kill = () => child.pid !== undefined && process.kill(-child.pid, "SIGKILL");
    const timer = setTimeout(kill, TIMEOUT_MS);
    signal.addEventListener("abort", kill, { once: true });
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", kill);
      if (signal.aborted) reject(signal.reason);
      else if (code === 0) resolve(undefined);
      else resolve(code === 1 ? firstFailed(out) : `not run: ${err.trim().split("\n").at(-1)}`);
    });
  });
}

function firstFailed(out: string): string {
  const { results } = JSON.parse(out) as {
    results: { id: string; outcome: string; reason: string }[];
  };
  const failed = results.find(({ outcome }) => outcome === "failed");
  return failed === undefined ? "nothing" : `${failed.id}: ${failed.reason}`;
}
