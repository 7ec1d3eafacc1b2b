// Runs the commands of the release checks with a clean environment and a deadline.
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
      !/^(npm_(?!config_)|pnpm_|clew_|openclaw_|node_(options|path|env)$|vitest|init_cwd$|force_color$)/i.test(
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
    NO_COLOR: "1",
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_update_notifier: "false",
    npm_config_loglevel: "error",
    ...extra,
  };
}

/** What was ended because it took too long, which need not be its fault. */
export class TookTooLong extends Error {
  /**
   * @param {string} what
   * @param {number} [seconds]
   */
  constructor(what, seconds = DEADLINE_MS / 1000) {
    super(`${what} took longer than ${seconds} s`);
  }
}

/**
 * Runs a command to its end. Throws when it fails, with the last lines it wrote, and all it told
 * under `stdout`. An abort ends it with all it started.
 *
 * @param {string} file
 * @param {readonly string[]} args
 * @param {{ cwd: string, env: NodeJS.ProcessEnv, code?: number, signal?: AbortSignal }} options
 * `code` is the expected one
 * @returns {Promise<{ stdout: string, stderr: string }>}
 */
export function run(file, args, { cwd, env, code: expected = 0, signal }) {
  signal?.throwIfAborted();
  const windows = process.platform === "win32";
  // A group of its own where somebody may abort, so that ending it ends its children.
  const group = signal !== undefined && !windows;
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, {
      cwd,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      // npm and installed commands are .cmd files on Windows.
      shell: windows && !/node(\.exe)?$/.test(file),
      detached: group,
    });
    const end = (how) => (group ? killGroup(child.pid, how) : child.kill(how));
    const onAbort = () => end("SIGTERM");
    let isLate = false;
    const late = setTimeout(() => {
      isLate = true;
      end("SIGKILL");
    }, DEADLINE_MS);
    signal?.addEventListener("abort", onAbort, { once: true });
    const done = () => {
      clearTimeout(late);
      signal?.removeEventListener("abort", onAbort);
    };
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (piece) => {
      stdout += piece;
    });
    child.stderr.on("data", (piece) => {
      stderr += piece;
    });
    child.on("error", (error) => {
      done();
      reject(error);
    });
    child.on("close", (code, ended) => {
      done();
      if (signal?.aborted) return reject(signal.reason);
      if (code === expected) return resolve({ stdout, stderr });
      const command = [file, ...args].join(" ").slice(0, 300);
      if (isLate) return reject(new TookTooLong(`"${command}"`));
      const said = lastLines(`${stderr}\n${stdout}`);
      const failed = new Error(
        `"${command}" ended with ${code ?? ended}, not ${expected}: ${said}`,
      );
      return reject(Object.assign(failed, { stdout }));
    });
  });
}

/** Ends a group of processes; one that has ended already is fine. */
export function killGroup(pid, signal) {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

function lastLines(text) {
  return text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .slice(-12)
    .join("\n  ");
}
