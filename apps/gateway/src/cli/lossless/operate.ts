// Runs `clew lossless status`, `backup`, `backups`, `restore`, `doctor` and `retain`.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { describeInterrupted } from "../../doctor/check-forgetting.ts";
import { journalFile } from "../../forget/journal-file.ts";
import { whoClaims } from "../../home/claim.ts";
import { agentFolder } from "../../sessions/paths.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { losslessSettings, oneDatabase, onlyOpenedHere, otherEngine } from "./databases.ts";
import { type DatabasesOptions, onDatabases } from "./on-databases.ts";
import { working } from "./working.ts";

const engine = () => import("@clew/lossless-engine/store");

export const losslessStatus = async (options: DatabasesOptions, shell: Shell): Promise<number> => {
  const { backupsBeside, storeStatus } = await engine();
  const other = await otherEngine(shell.environment);
  if (other !== null && options.json !== true) shell.output.note(`clew: ${other}`);
  return onDatabases(options, shell, {
    async work({ file }) {
      const [status, backups] = [await storeStatus(file), backupsBeside(file)];
      const copies = backups.length === 1 ? "1 copy" : `${backups.length} copies`;
      const beside = backups.length === 0 ? "" : ` ${copies} beside it.`;
      return { ...status, backups, text: `${status.text}${beside}` };
    },
  });
};

/** Changes nothing without `--yes`. Exit code 2 where nothing says how long messages are kept. */
export const losslessRetain = async (
  { days, megabytes, newest, yes = false, ...options }: DatabasesOptions & RetainOptions,
  shell: Shell,
): Promise<number> => {
  const { planRetention, retainStore } = await engine();
  const settings = await losslessSettings(shell.environment);
  const keepDays = days ?? settings.keepDays;
  const keepMegabytes = megabytes ?? settings.keepMegabytes;
  const keepNewest = newest ?? settings.keepNewest;
  if (keepDays === undefined && keepMegabytes === undefined)
    throw new ContextEngineError(
      "REQUEST_INVALID",
      "Everything is kept for ever: say otherwise by --days or --megabytes, or set keepDays or keepMegabytes of the lossless engine.",
    );
  const retention = { keepDays, keepMegabytes, keepNewest };
  return onDatabases(options, shell, {
    async work({ file }, operating) {
      const asked = { ...operating, ...retention, now: Date.now() };
      if (yes) return { ...(await retainStore(file, asked)), isDone: true };
      const plan = await planRetention(file, asked);
      return { ...plan, isDone: false, text: `${plan.text} ${UNCHANGED}` };
    },
  });
};

const UNCHANGED = "Nothing was changed: it cannot be taken back. Do it with --yes.";

interface RetainOptions {
  days?: number;
  megabytes?: number;
  newest?: number;
  yes?: boolean;
}

/** Exit code 1 when a copy is not as it was stored. */
export const losslessBackup = async (
  { to, ...options }: DatabasesOptions & { to?: string },
  shell: Shell,
): Promise<number> => {
  const { backUpStore } = await engine();
  return onDatabases(options, shell, {
    work: ({ file, agents }, operating) =>
      backUpStore(file, {
        ...operating,
        ...{ now: Date.now() },
        ...(to !== undefined && { named: join(resolve(to), `${agents.join("-")}-lossless.db`) }),
      }),
    good: ({ verification }) => verification.isWhole,
  });
};

export const losslessBackups = async (options: DatabasesOptions, shell: Shell): Promise<number> => {
  const { describeBackups, inspectBackups } = await engine();
  return onDatabases(options, shell, {
    async work({ file }) {
      const backups = await inspectBackups(file);
      return { backups, text: describeBackups(file, backups) };
    },
    // Whoever lost the database looks for one.
    async without({ file }) {
      const backups = await inspectBackups(file);
      return backups.length === 0 ? undefined : { backups, text: describeBackups(file, backups) };
    },
  });
};

/** Exit code 1 when not all can be read, or something is still being forgotten. */
export const losslessDoctor = async (options: DatabasesOptions, shell: Shell): Promise<number> => {
  const { mendStore } = await engine();
  const interrupted = await describeInterrupted(shell.environment.home);
  if (interrupted !== null) shell.output.note(`clew: ${interrupted}`);
  const code = await onDatabases(options, shell, {
    work: ({ file }, operating) => mendStore(file, operating),
    good: ({ isWhole }) => isWhole,
  });
  return interrupted === null ? code : 1;
};

/** Throws GATEWAY_RUNNING, FILE_NOT_FOUND, REQUEST_INVALID, STORAGE_FAILED. */
export async function losslessRestore(
  from: string,
  { agent, force = false, json = false }: DatabasesOptions & { force?: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const { home } = environment;
  const { file, agents } = await oneDatabase(environment, agent);
  const claim = await whoClaims(home);
  if (claim !== null)
    throw new ContextEngineError(
      "GATEWAY_RUNNING",
      `The gateway of ${home} runs (process ${claim.pid}) and would go on with the old database; stop it, then restore.`,
    );
  if (existsSync(journalFile(home)))
    throw new ContextEngineError(
      "REQUEST_INVALID",
      `Something is still being forgotten in ${home}, which this restore would bring back; run clew lossless forget --resume, then restore.`,
    );
  const { restoreStore } = await engine();
  const agentDirs = agents.map((id) => agentFolder(home, id));
  const { text, ...restored } = await working(output, (operating) =>
    restoreStore({ ...operating, from, file, agentDirs, force, now: Date.now() }),
  );
  if (json) output.json(restored);
  else output.line(printable(text));
  for (const note of [await onlyOpenedHere(environment), await otherEngine(environment)])
    if (note !== null && !json) output.note(`clew: ${note}`);
  return 0;
}
