// Runs `clew lossless verify`, which audits what the lossless engine keeps.
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { HostTranscript, MessageStore, Verification } from "@clew/lossless-engine/store";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { modelChains } from "../config/agent.ts";
import { type LoadedConfig, loadConfig } from "../config/load.ts";
import { agentFolder } from "../sessions/paths.ts";
import { createSessionStore } from "../sessions/store.ts";
import { describeFailure } from "../terminal/failure.ts";
import { type Output, printable } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";

/** What an audit of one database came to. */
type Audited =
  | ({ readonly state: "verified" } & Verification)
  | { readonly state: "missing" }
  | { readonly state: "unusable"; readonly reason: string };

/** Between two lines that say how far an audit is, ms. */
const PROGRESS_MS = 2_000;

/** Exit code 1 when something is not as it was stored, or cannot be read. */
export async function losslessVerify(
  { agent, json = false }: { agent?: string; json?: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const { config } = await loadConfig(environment.configFile);
  const { home } = environment;
  const known = modelChains(config, home).map((chain) => chain.agent);
  if (agent !== undefined && !known.includes(agent))
    throw new ContextEngineError(
      "REQUEST_INVALID",
      `There is no agent "${agent}"; there is ${known.join(", ")}.`,
    );
  const files = databasesOf(config, home, agent === undefined ? known : [agent]);
  const audits: { file: string; agents: readonly string[]; audited: Audited }[] = [];
  const sessions = await createSessionStore({ home }).list();
  for (const [file, agents] of files) {
    const transcripts = sessions
      .filter(({ agentId }) => agents.includes(agentId))
      .map(({ key, sessionId, agentId, file: path }) => ({
        ...{ sessionId, sessionKey: key, file: path },
        agentDir: agentFolder(home, agentId),
      }));
    const audited = await audit(file, transcripts, output).catch(
      (error: unknown): Audited => ({
        state: "unusable",
        reason: describeFailure(error, environment),
      }),
    );
    audits.push({ file, agents, audited });
    if (!json) show(output, file, audited);
  }
  if (json)
    output.json({
      databases: audits.map(({ file, agents, audited }) => ({ file, agents, ...audited })),
    });
  const isWhole = audits.every(
    ({ audited }) =>
      audited.state === "missing" || (audited.state === "verified" && audited.isWhole),
  );
  return isWhole ? 0 : 1;
}

/** By database file: agents may share one. */
function databasesOf(
  config: LoadedConfig["config"],
  home: string,
  agents: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const settings: { databasePath?: unknown } = config.plugins.entries?.lossless?.config ?? {};
  const named = settings.databasePath;
  const files = new Map<string, string[]>();
  for (const agent of agents) {
    const folder = agentFolder(home, agent);
    const file = databaseFile(folder, typeof named === "string" ? named : undefined);
    files.set(file, [...(files.get(file) ?? []), agent]);
  }
  return files;
}

/** Pure. As the engine finds it. */
function databaseFile(folder: string, named: string | undefined): string {
  if (named === undefined) return join(folder, "clew-lossless", "lossless.db");
  if (named === "~" || named.startsWith("~/")) return join(homedir(), named.slice(1));
  return isAbsolute(named) ? named : join(folder, named);
}

async function audit(
  file: string,
  transcripts: readonly HostTranscript[],
  output: Output,
): Promise<Audited> {
  // Opening it would make it.
  if (!existsSync(file)) return { state: "missing" };
  const { openMessageStore } = await import("@clew/lossless-engine/store");
  let store: MessageStore | undefined;
  try {
    store = openMessageStore(file);
    let toldAt = performance.now();
    const verification = await store.verify({
      transcripts,
      onProgress({ part, read, messages }) {
        if (performance.now() - toldAt < PROGRESS_MS) return;
        toldAt = performance.now();
        output.note(`${file}: ${part}${read > 0 ? `, ${read} read` : ""} (${messages} messages)`);
      },
    });
    return { state: "verified", ...verification };
  } finally {
    store?.close();
  }
}

function show(output: Output, file: string, audited: Audited): void {
  if (audited.state !== "verified") {
    const why = audited.state === "missing" ? "nothing is kept yet" : audited.reason;
    output.line(printable(`${file}: ${why}`));
    return;
  }
  const { messages, payloads, faults } = audited;
  const read = `${messages} messages and ${payloads} long texts looked at`;
  output.line(
    faults.length === 0
      ? `${file}: ${read}, all are as they were stored`
      : `${file}: ${read}, ${faults.length} faults:`,
  );
  for (const { text } of faults) output.line(printable(`  ${text}`));
}
