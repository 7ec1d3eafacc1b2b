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

type Shown = Omit<McpServerStatus, "state"> & { state: McpServerStatus["state"] | "disabled" };

export async function mcpList({ json = false }: Asked, shell: Shell): Promise<number> {
  const { environment, output } = shell;
  const { config } = await loadConfig(environment.configFile);
  const asked = await askGateway(shell);
  const known = asked ?? unconnected(config.mcp, shell);
  const servers = [...known, ...disabled(config.mcp, known)];
  if (json) output.json({ gateway: asked !== undefined, servers });
  else if (servers.length === 0)
    output.line('There are no MCP servers; "clew mcp --help" and docs/mcp.md say how to add one.');
  else
    for (const each of servers)
      output.line(
        printable(
          `${each.name}  ${visible(each.reach)}  ${each.state === "disabled" ? "is switched off (enabled: false)" : describeServer(each as McpServerStatus)}`,
        ),
      );
  return EXIT.done;
}

/** Throws REQUEST_INVALID for a server that is not in the settings. */
export async function mcpStatus(
  server: string | undefined,
  { json = false }: Asked,
  shell: Shell,
): Promise<number> {
  const { output } = shell;
  const all = (await askGateway(shell, { starts: true })) ?? (await tryOut(shell, server));
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

const disabled = ({ servers }: McpConfig, known: readonly McpServerStatus[]): Shown[] =>
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

function linesOf(status: McpServerStatus): string[] {
  const { name, reach, tools, about } = status;
  const revision = about === null ? "" : `; speaks MCP ${visible(about.revision)}`;
  return [
    `${name}: ${describeServer(status)}${revision}`,
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
