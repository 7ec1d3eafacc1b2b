// Runs the conformance kit's own command on an engine.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { variablesWithStateDir } from "../load/state-dir.ts";

export interface KitRun {
  /** Behind `plugin-sdk check`. */
  args: readonly string[];
  /** The folder of the modules that are loaded as a plugin's, absolute, links resolved. */
  root: string;
  /** What they find as the person's home, and as their host's folder. */
  home: string;
  /** What case begins. */
  onProgress: (line: string) => void;
}

export interface KitEnd {
  /** As the kit's command has it: 0 · 1 a rule is broken · 2 nothing could be checked. */
  code: number;
  report: string;
  /** What it said beside that, or the engine did. */
  said: readonly string[];
}

/** In the package of the kit. */
const KIT = import.meta.url.endsWith(".ts")
  ? "src/testing/check/main.ts"
  : "dist/testing/check/main.js";

export async function runKit({ args, root, home, onProgress }: KitRun): Promise<KitEnd> {
  const { resolve } = createRequire(import.meta.url);
  const kit = join(dirname(resolve("@clew/plugin-sdk/package.json")), KIT);
  const hooks = pathToFileURL(resolve("#engine-check-hooks"));
  hooks.searchParams.set("root", root);
  hooks.searchParams.set("home", home);
  // Its processes are started with the same of these.
  const node = [
    ...(kit.endsWith(".ts") ? ["--conditions=@clew/source"] : []),
    ...["--disable-warning=ExperimentalWarning", "--import", hooks.href],
  ];
  const child = spawn(process.execPath, [...node, kit, "check", ...args], {
    env: variablesWithStateDir(home),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const interrupt = (signal: NodeJS.Signals) => void child.kill(signal);
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.on(signal, interrupt);
  try {
    const parts: Buffer[] = [];
    child.stdout.on("data", (part: Buffer) => parts.push(part));
    const said: string[] = [];
    createInterface(child.stderr).on("line", (line) => {
      if (PROGRESS.test(line)) onProgress(line);
      else said.push(line);
    });
    const code = await new Promise<number | null>((settle, reject) => {
      child.on("error", reject);
      child.on("close", settle);
    });
    return { code: code ?? 2, report: Buffer.concat(parts).toString("utf8"), said };
  } finally {
    for (const signal of signals) process.off(signal, interrupt);
  }
}

const PROGRESS = /^\d+\/\d+ [a-z-]+\/[a-z-]+$/;
