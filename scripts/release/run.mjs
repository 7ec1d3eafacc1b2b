// Runs commands for the release checks: with a clean environment, a deadline, and errors in one sentence.
import { spawn } from "node:child_process";
import { delimiter, dirname, join } from "node:path";

const DEADLINE_MS = 300_000;

/**
 * The environment of a check: this Node first on the PATH, a home of its own, nothing npm
 * told us about our own run.
 *
 * @param {string} scratch a folder that is removed afterwards
 * @param {Record<string, string>} [extra]
 * @returns {NodeJS.ProcessEnv}
 */
export function cleanEnvironment(scratch, extra = {}) {
  const kept = Object.entries(process.env).filter(
    ([name]) =>
      !/^(npm_(?!config_)|pnpm_|clew_|openclaw_|node_(options|path|env)$|vitest|init_cwd$)/i.test(
        name,
      ),
  );
  return {
    ...Object.fromEntries(kept),
    // The name differs on Windows, and there only one of the two may be given.
    [Object.keys(process.env).find((name) => /^path$/i.test(name)) ?? "PATH"]: [
      dirname(process.execPath),
      process.env.PATH,
    ].join(delimiter),
    CLEW_HOME: join(scratch, "clew-home"),
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_update_notifier: "false",
    npm_config_loglevel: "error",
    ...extra,
  };
}

/**
 * Runs a command to its end. Throws when it fails, with the last lines it wrote.
 *
 * @param {string} file
 * @param {readonly string[]} args
 * @param {{ cwd: string, env: NodeJS.ProcessEnv, code?: number, signal?: AbortSignal }} options
 * `code` is the expected one
 * @returns {Promise<{ stdout: string, stderr: string }>}
 */
export function run(file, args, { cwd, env, code: expected = 0, signal }) {
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      // npm and installed commands are .cmd files on Windows.
      shell: process.platform === "win32" && !/node(\.exe)?$/.test(file),
      timeout: DEADLINE_MS,
      signal,
    });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (piece) => {
      stdout += piece;
    });
    child.stderr.on("data", (piece) => {
      stderr += piece;
    });
    child.on("error", (error) => reject(error));
    child.on("close", (code) => {
      if (code === expected) resolve({ stdout, stderr });
      else
        reject(
          new Error(
            `"${[file, ...args].join(" ")}" ended with ${code ?? "a signal"}, not ${expected}: ` +
              lastLines(`${stderr}\n${stdout}`),
          ),
        );
    });
  });
}

function lastLines(text) {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(-12)
    .join("\n  ");
}
