// Runs `clew mcp list`, `status` and `restart`, which are about servers that agents use.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { loadConfig } from "../../config/load.ts";
import type { McpConfig } from "../../config/mcp.ts";
import { describeServer } from "../../mcp/client/describe-status.ts";
import type { McpServerStatus } from "../../mcp/client/live-server.ts";
import { createMcpTools, usualVariables } from "../../mcp/client/mcp-tools.ts";
import { planServers } from "../../mcp/client/plan-servers.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { visible } from "../../text/visible.ts";
import { interruptible } from "../interruptible.ts";
import { answerOf, runningGateway } from "../running-gateway.ts";

interface Asked {
  json?: boolean;
}

/** A gateway answers at once. */
const ANSWER_MS = 10_000;

interface Shown extends Omit<McpServerStatus, "state"> {
  /** "unread": the running gateway does not know of it yet. */
  state: McpServerStatus["state"] | "disabled" | "unread";
  /** How the settings differ from what the running gateway read. Absent: they do not. */
  since?: "removed" | "changed";
}

export async function mcpList({ json = false }: Asked, shell: Shell): Promise<number> {
  const { environment, output } = shell;
  const { config } = await loadConfig(environment.configFile);
  const asked = await askGateway(shell);
  const set = unconnected(config.mcp, shell);
  const known = asked === undefined ? set : planShown(asked, set);
  const servers = [...known, ...disabled(config.mcp, known)];
  if (json) output.json({ gateway: asked !== undefined, servers });
  else if (servers.length === 0)
    output.line(
      `There are no MCP servers; "clew config set mcp.servers.NAME.command PROGRAM" adds one, and docs/mcp.md says more.`,
    );
  else
    for (const each of servers)
      output.line(printable(`${each.name}  ${visible(each.reach)}  ${describeShown(each)}`));
  return EXIT.done;
}

/** Throws REQUEST_INVALID for a server that is not in the settings. */
export async function mcpStatus(
  server: string | undefined,
  { json = false }: Asked,
  shell: Shell,
): Promise<number> {
  const { output } = shell;
  const asked = await askGateway(shell, { starts: true });
  const { config } = await loadConfig(shell.environment.configFile);
  const all: Shown[] =
    asked === undefined
      ? await tryOut(shell, server)
      : planShown(asked, unconnected(config.mcp, shell));
  const servers = server === undefined ? all : all.filter(({ name }) => name === server);
  if (server !== undefined && servers.length === 0) throw unknownServer(server, all);
  if (json) output.json({ servers });
  else if (servers.length === 0) output.line("There are no MCP servers.");
  else for (const each of servers) for (const line of linesOf(each)) output.line(printable(line));
  return servers.every(({ state }) => state === "ready") ? EXIT.done : EXIT.failed;
}

/** Throws GATEWAY_UNREACHABLE, and what the gateway refuses. */
export async function mcpRestart(
  server: string,
  { json = false }: Asked,
  shell: Shell,
): Promise<number> {
  const gateway = await runningGateway(shell.environment);
  if (gateway === undefined)
    throw new ContextEngineError(
      "GATEWAY_UNREACHABLE",
      'No gateway of this home runs, so no MCP server does; "clew mcp status" tries them out.',
    );
  const { config } = await loadConfig(shell.environment.configFile);
  const read = (await askGateway(shell)) ?? [];
  if (config.mcp.servers[server] !== undefined && !read.some(({ name }) => name === server))
    throw new ContextEngineError(
      "REQUEST_INVALID",
      `The running gateway has not read MCP server "${server}"; it ${AT_START}.`,
    );
  const path = `/api/mcp/${encodeURIComponent(server)}/restart`;
  const timeoutMs = ANSWER_MS + 2 * (config.mcp.servers[server]?.connectTimeoutMs ?? 30_000);
  const found = await answerOf<{ server: McpServerStatus }>(gateway, path, {
    ...{ method: "POST", timeoutMs },
  });
  if (json) shell.output.json(found);
  else shell.output.line(printable(`${server}: ${describeServer(found.server)}`));
  return found.server.state === "ready" ? EXIT.done : EXIT.failed;
}

/** Undefined: none runs. */
async function askGateway(
  { environment }: Shell,
  { starts = false } = {},
): Promise<McpServerStatus[] | undefined> {
  const gateway = await runningGateway(environment);
  if (gateway === undefined) return undefined;
  const path = starts ? "/api/mcp?start=1" : "/api/mcp";
  const options = { method: "GET", timeoutMs: starts ? 60_000 : ANSWER_MS };
  return (await answerOf<{ servers: McpServerStatus[] }>(gateway, path, options)).servers;
}

const quiet = { info: () => {}, warn: () => {} };

/** As they would be in a gateway that has just begun. */
const unconnected = (config: McpConfig, { environment }: Shell): McpServerStatus[] =>
  createMcpTools({
    servers: planServers(config, environment),
    log: quiet,
    usual: usualVariables(environment.variable),
  }).status();

const AT_START = 'reads the settings when it starts: "clew stop" and "clew start"';

/** Pure. What the gateway has, and what the settings say since it read them. */
export function planShown(
  running: readonly McpServerStatus[],
  set: readonly McpServerStatus[],
): Shown[] {
  const found = running.map((each): Shown => {
    const now = set.find(({ name }) => name === each.name);
    if (now === undefined) return { ...each, since: "removed" };
    return now.reach === each.reach ? each : { ...each, since: "changed" };
  });
  const isRead = ({ name }: McpServerStatus) => running.some((each) => each.name === name);
  const unread = set.filter((each) => !isRead(each));
  return [...found, ...unread.map((each): Shown => ({ ...each, state: "unread" }))];
}

function describeShown({ since, ...server }: Shown): string {
  const { state } = server;
  if (state === "disabled") return "is switched off (enabled: false)";
  if (state === "unread") return `is not read yet: the gateway ${AT_START}`;
  const how = describeServer({ ...server, state });
  if (since === undefined) return how;
  const other =
    since === "removed" ? "do not have it any more" : "have another program or address for it";
  return `${how}; the settings ${other}, and the gateway ${AT_START}`;
}

const disabled = ({ servers }: McpConfig, known: readonly Shown[]): Shown[] =>
  Object.entries(servers).flatMap(([name, { enabled, command, args, url }]) =>
    enabled || known.some((each) => each.name === name)
      ? []
      : [
          {
            ...{ name, state: "disabled" as const, problem: null, about: null, tools: [] },
            ...{ odd: 0, left: [] },
            reach: url ?? [command, ...args].join(" "),
          },
        ],
  );

/** Starts them for a moment. */
async function tryOut(
  { environment, output }: Shell,
  server: string | undefined,
): Promise<McpServerStatus[]> {
  const { config } = await loadConfig(environment.configFile);
  const all = planServers(config.mcp, environment);
  const servers = server === undefined ? all : all.filter(({ name }) => name === server);
  const usual = usualVariables(environment.variable);
  const tools = createMcpTools({ servers, log: quiet, usual });
  return interruptible(output, async ({ signal, says }) => {
    says("starting MCP servers");
    try {
      await Promise.race([tools.settled(), abortOf(signal)]);
      return tools.status();
    } finally {
      await tools.close();
    }
  });
}

const abortOf = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

function linesOf(status: Shown): string[] {
  const { name, reach, tools, about } = status;
  const revision = about === null ? "" : `; speaks MCP ${visible(about.revision)}`;
  return [
    `${name}: ${describeShown(status)}${revision}`,
    `    ${visible(reach)}`,
    ...tools.map(
      (tool) =>
        `    ${tool.name}${tool.runsUnasked ? "" : "  (asks)"}  ${visible(firstSentence(tool.description))}`,
    ),
  ];
}

const firstSentence = (text: string): string =>
  (text.split(/(?<=\.)\s|\n/, 1)[0] ?? "").slice(0, 100);

const unknownServer = (name: string, known: readonly { name: string }[]) =>
  new ContextEngineError(
    "REQUEST_INVALID",
    `No MCP server of the settings is called "${name}"; there is: ${known.map((each) => each.name).join(", ") || "none"}.`,
  );
