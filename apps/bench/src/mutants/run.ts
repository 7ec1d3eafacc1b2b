// Plants mutants one at a time in a checkout and tells which the packages' tests notice.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Mutant, PlacedMutant } from "./generate.ts";

export type Verdict = "killed" | "survived" | "gone";

export interface MutantResult extends Mutant {
  verdict: Verdict;
  /** Wall time of the tests, ms. */
  ms: number;
  /** What failed first, where the kit was asked. Absent: nothing failed, or tests were run. */
  by?: string;
}

const PROJECTS = [
  "plugin-sdk",
  "engine-core",
  "legacy-engine",
  "transcript-policy",
  "providers",
  "lossless-engine",
];
/** A mutant that makes the tests hang is killed too. */
const TIMEOUT_MS = 120_000;

/**
 * First the tests of the mutant's own package that reach its file, then those of the other
 * packages. The file is put back whatever happens, also when `signal` ends the run.
 */
export async function tryMutant(
  root: string,
  { start, end, ...mutant }: PlacedMutant,
  signal: AbortSignal,
): Promise<MutantResult> {
  const path = join(root, mutant.file);
  const text = readFileSync(path, "utf8");
  const began = performance.now();
  writeFileSync(path, text.slice(0, start) + mutant.replacement + text.slice(end));
  try {
    const own = mutant.file.split("/")[1]!;
    const others = PROJECTS.filter((name) => name !== own);
    const killed =
      !(await passes(root, [own], mutant.file, signal)) ||
      !(await passes(root, others, mutant.file, signal));
    const ms = Math.round(performance.now() - began);
    return { ...mutant, verdict: killed ? "killed" : "survived", ms };
  } finally {
    writeFileSync(path, text);
  }
}

function passes(
  root: string,
  projects: readonly string[],
  file: string,
  signal: AbortSignal,
): Promise<boolean> {
  const args = [
    "node_modules/vitest/vitest.mjs",
    "related",
    file,
    "--run",
    "--bail=1",
    "--passWithNoTests",
    "--reporter=dot",
    ...projects.flatMap((name) => ["--project", name]),
  ];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: root, stdio: "ignore", detached: true });
    const kill = () => child.pid !== undefined && process.kill(-child.pid, "SIGKILL");
    const timer = setTimeout(kill, TIMEOUT_MS);
    signal.addEventListener("abort", kill, { once: true });
    child.on("error", reject);
    child.on("exit", (code) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", kill);
      if (signal.aborted) reject(signal.reason);
      else resolve(code === 0);
    });
  });
}
