// Starts one Codex app-server, and makes sure that it is one we can speak with.
import { spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { LogPort } from "@clew/engine-core";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { writeOwn } from "../../home/own-writes.ts";
import { visible } from "../../text/visible.ts";
import { VERSION } from "../../version.ts";
import { type Connection, type ConnectionHandlers, connect } from "./connection.ts";
import type { CodexHome } from "./plan-home.ts";
import { InitializedSchema, OLDEST_CODEX } from "./protocol.ts";
import { isSupported, versionIn } from "./version.ts";

export interface StartOptions {
  /** By name or path. */
  command: string;
  /** Its own folder, absolute. */
  folder: string;
  home: CodexHome;
  /** What of the gateway's environment it gets. */
  env: NodeJS.ProcessEnv;
  log: LogPort;
  handlers: ConnectionHandlers;
  /** Longest wait for an answer, ms. */
  answerMs: number;
}

/** Throws HARNESS_UNAVAILABLE with what a person should do. */
export async function startCodex(
  options: StartOptions,
): Promise<{ connection: Connection; version: string }> {
  const { command, folder, home, env, log, handlers, answerMs } = options;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeOwn(join(folder, "config.toml"), home.config);
  const child = spawn(command, ["app-server"], {
    // A group of its own, so that what it begins ends with it.
    ...{ cwd: folder, detached: true, stdio: ["pipe", "pipe", "pipe"] },
    env: { ...env, ...home.env, CODEX_HOME: folder },
  });
  const missing = new Promise<never>((_, reject) => {
    child.once("error", (error: NodeJS.ErrnoException) =>
      reject(unavailable(missingText(command, error))),
    );
  });
  const connection = connect({ child, log, handlers, answerMs });
  try {
    const version = await Promise.race([missing, introduce(connection, command)]);
    return { connection, version };
  } catch (error) {
    await connection.close();
    if (ContextEngineError.is(error, "HARNESS_UNAVAILABLE")) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw unavailable(
      `${visible(command)} app-server could not be started: ${visible(why)} ${WHAT_NEXT}`,
    );
  } finally {
    missing.catch(() => {});
  }
}

/** The version of who answered. */
async function introduce(connection: Connection, command: string): Promise<string> {
  const { userAgent } = await connection.request(
    "initialize",
    {
      clientInfo: { name: "clew", title: "Clew", version: VERSION },
      capabilities: { experimentalApi: true, requestAttestation: false },
    },
    InitializedSchema,
  );
  const version = versionIn(userAgent);
  if (version === undefined || !isSupported(version))
    throw unavailable(
      `Codex ${version ?? `"${visible(userAgent.slice(0, 80))}"`} (${visible(command)}) is not supported: version ${OLDEST_CODEX} or newer is needed. ${WHAT_NEXT}`,
    );
  connection.notify("initialized");
  return version;
}

const WHAT_NEXT =
  "Update it (npm install -g @openai/codex) or name another one in harness.codex.command.";

const missingText = (command: string, { code, message }: NodeJS.ErrnoException) =>
  code === "ENOENT"
    ? `Codex is not there: nothing is called ${visible(command)}. Install it (npm install -g @openai/codex) or name it in harness.codex.command.`
    : `${visible(command)} cannot be run: ${message}.`;

const unavailable = (message: string) => new ContextEngineError("HARNESS_UNAVAILABLE", message);
