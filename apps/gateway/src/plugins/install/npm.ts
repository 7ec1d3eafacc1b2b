// Runs npm for installs, without scripts and without questions.
import { spawn } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { variablesForNpm } from "../../config/environment.ts";
import { installFailed } from "../invalid.ts";

const MAX_MS = 5 * 60_000;
/** Peers are what the host offers: `openclaw` itself must not be fetched. */
const ALWAYS = [
  "--ignore-scripts",
  "--legacy-peer-deps",
  "--omit=dev",
  "--omit=peer",
  // What is fetched from elsewhere is told by these addresses.
  "--omit-lockfile-registry-resolved=false",
  "--no-audit",
  "--no-fund",
  "--no-update-notifier",
  "--loglevel=error",
];
const PATIENCE = [
  "--fetch-retries=1",
  "--fetch-retry-mintimeout=500",
  "--fetch-retry-maxtimeout=2000",
];

/**
 * Installs `spec`, or without one what `folder`'s package.json asks for. `what` names it in
 * errors. Throws PLUGIN_INVALID.
 */
export async function npmInstall({
  folder,
  spec,
  what,
}: {
  folder: string;
  spec?: string | undefined;
  what: string;
}): Promise<void> {
  const target = spec === undefined ? [] : ["--save-exact", "--", spec];
  const { code, errors } = await run(
    ["install", ...ALWAYS, ...PATIENCE, "--prefix", folder, ...target],
    folder,
  );
  if (code !== 0) throw installFailed(describe(errors, what));
}

/** Packs `folder` as npm would publish it; returns the archive, below `into`. */
export async function npmPack(folder: string, into: string): Promise<string> {
  mkdirSync(into, { recursive: true });
  const args = ["pack", "--ignore-scripts", "--no-update-notifier", "--loglevel=error"];
  const { code, errors } = await run([...args, "--pack-destination", into], folder);
  const [name] = code === 0 ? readdirSync(into) : [];
  if (name === undefined) throw installFailed(describe(errors, folder));
  return join(into, name);
}

function run(
  args: readonly string[],
  cwd: string,
): Promise<{ code: number | null; errors: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn("npm", args, {
      cwd,
      env: variablesForNpm(),
      stdio: ["ignore", "ignore", "pipe"],
      timeout: MAX_MS,
      shell: process.platform === "win32",
    });
    let errors = "";
    child.stderr.on("data", (piece) => {
      errors += piece;
    });
    child.on("error", (error: NodeJS.ErrnoException) =>
      reject(
        installFailed(
          error.code === "ENOENT"
            ? "npm is not on the PATH; it comes with Node, and installs need it."
            : `npm cannot be started: ${error.message}.`,
          error,
        ),
      ),
    );
    child.on("close", (code) => resolve({ code, errors }));
  });
}

/** What was asked for, or something that it depends on. */
function describeMissing(errors: string, what: string): string {
  const missing = /npm (?:error|ERR!) 404\s+.*'(.+)@[^@']*'/.exec(errors)?.[1];
  return missing === undefined || what.includes(missing)
    ? `npm has no package ${what}; check the name.`
    : `npm has no package ${missing}, which ${what} depends on; ask who made it for one that is whole.`;
}

/** Pure. npm's own words hold paths of its cache and advice for other people's problems. */
export function describe(errors: string, what: string): string {
  const code = /npm (?:error|ERR!) code (\S+)/.exec(errors)?.[1] ?? "";
  if (code === "E404") return describeMissing(errors, what);
  if (code === "ETARGET" || code === "EINVALIDTAGNAME")
    return `npm has no such version of ${what}; "npm view" lists those it has.`;
  if (
    /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|FETCH_ERROR)$/.test(
      code,
    )
  )
    return `${what} could not be fetched: the npm registry does not answer (${code}); check the network and try again.`;
  if (code === "E401" || code === "E403")
    return `npm may not fetch ${what} (${code}); log in to its registry with "npm login" first.`;
  const reason = errors
    .split("\n")
    .find((line) => /npm (error|ERR!) (?!code)/.test(line))
    ?.replace(/^npm (error|ERR!) /, "");
  if (/^(?:TypeError|Cannot \w+ propert)|is not (?:a function|iterable)/.test(reason ?? ""))
    return `npm could not install ${what}: it cannot read its package.json, or that of something it depends on.`;
  return `npm could not install ${what}${code === "" ? "" : ` (${code})`}: ${reason ?? "it gave no reason"}.`;
}
