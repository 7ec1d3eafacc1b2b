// Runs `clew lossless export` and `clew lossless import`.
import { join, resolve } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { requireSessionName } from "../../sessions/name-errors.ts";
import { agentFolder } from "../../sessions/paths.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { databasesOf, losslessSettings, oneDatabase } from "./databases.ts";
import { type DatabasesOptions, onDatabases } from "./on-databases.ts";
import { working } from "./working.ts";

const engine = () => import("@clew/lossless-engine/store");

/** Exit code 1 when a message could not be read. */
export async function losslessExport(
  { to, session, ...options }: DatabasesOptions & { to: string; session?: string },
  shell: Shell,
): Promise<number> {
  const { exportStore } = await engine();
  const name = session === undefined ? undefined : requireSessionName(session);
  const { agent = name?.agentId } = options;
  const databases = await databasesOf(shell.environment, agent);
  return onDatabases({ ...options, ...(agent !== undefined && { agent }) }, shell, {
    work: ({ file, agents }, operating) =>
      exportStore(file, {
        ...operating,
        folder: databases.length > 1 ? join(resolve(to), agents.join("-")) : resolve(to),
        ...(name !== undefined && { sessions: [name.key, session!] }),
      }),
    good: ({ unreadable }) => unreadable.length === 0,
  });
}

/** Exit code 1 when not all that the files tell is stored. */
export async function losslessImport(
  files: readonly string[],
  { agent, session, json = false }: DatabasesOptions & { session?: string },
  { environment, output }: Shell,
): Promise<number> {
  const name = session === undefined ? undefined : requireSessionName(session);
  const whose = agent ?? name?.agentId;
  const { file, agents } = await oneDatabase(environment, whose);
  const [owner = "", ...others] = whose === undefined ? agents : [whose];
  if (others.length > 0)
    throw new ContextEngineError(
      "REQUEST_INVALID",
      `Several agents keep their sessions in ${file} (${agents.join(", ")}); say by --agent whose these are.`,
    );
  const { importIntoStore } = await engine();
  const { compress } = await losslessSettings(environment);
  const { text, ...imported } = await working(output, (operating) =>
    importIntoStore(file, {
      ...{ ...operating, files, compress },
      agentDir: agentFolder(environment.home, owner),
      ...(name !== undefined && { sessionKey: name.key }),
    }),
  );
  if (json) output.json({ database: file, ...imported });
  else output.line(printable(text));
  return imported.isWhole ? 0 : 1;
}
