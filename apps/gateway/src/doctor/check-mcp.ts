// Checks whether MCP servers can be used, and how the running gateway has them.
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { agentIds } from "../config/agent.ts";
import type { Environment } from "../config/environment.ts";
import type { Config } from "../config/schema.ts";
import type { GatewayLookup } from "../gateway-client.ts";
import { describeServer } from "../mcp/client/describe-status.ts";
import { askedFor, type McpServerStatus } from "../mcp/client/live-server.ts";
import { planServers } from "../mcp/client/plan-servers.ts";
import type { McpServer } from "../mcp/client/server.ts";
import { printable } from "../terminal/output.ts";
import type { Finding } from "./finding.ts";

const ASK_MS = 10_000;

/** Starts none of them. Nothing where there are none. */
export async function checkMcp(
  config: Config,
  environment: Pick<Environment, "variable" | "userHome">,
  lookup: GatewayLookup,
): Promise<Finding[]> {
  const servers = planServers(config.mcp, environment);
  const running = await statusIn(lookup);
  return servers.flatMap((server) => [
    ...checkAgents(server, agentIds(config)),
    checkServer(
      server,
      running?.find(({ name }) => name === server.name),
      environment,
    ),
  ]);
}

async function statusIn(lookup: GatewayLookup): Promise<McpServerStatus[] | undefined> {
  if (lookup.kind !== "running") return undefined;
  const answer = await lookup.gateway.request("/api/mcp", { timeoutMs: ASK_MS });
  // A gateway of an earlier version has no such address.
  return (answer?.body as { servers?: McpServerStatus[] } | undefined)?.servers;
}

function checkServer(
  server: McpServer,
  status: McpServerStatus | undefined,
  environment: Pick<Environment, "variable">,
): Finding {
  const subject = `MCP server ${server.name}`;
  const problem = server.problem ?? whyNotThere(server, environment);
  if (status !== undefined && status.state !== "idle") {
    const text = printable(describeServer(status));
    const isWhole = (status.left ?? []).length === 0;
    if (status.state === "ready")
      return isWhole
        ? { level: "ok", code: "mcp", subject, text }
        : { level: "warning", code: "mcp-not-offered", subject, text };
    const help = status.state === "off" ? `; ${askedFor(server.name)}` : "";
    return { level: "warning", code: "mcp-not-there", subject, text: `${text}${help}` };
  }
  if (problem !== undefined)
    return { level: "warning", code: "mcp-unusable", subject, text: `cannot be used: ${problem}` };
  const text = 'is started by the first turn that may use it; "clew mcp status" tries it out';
  return { level: "ok", code: "mcp", subject, text };
}

function checkAgents({ name, agents = [] }: McpServer, known: readonly string[]): Finding[] {
  const unknown = agents.filter((id) => !known.includes(id));
  if (unknown.length === 0) return [];
  const text = `mcp.servers.${name}.agents names ${unknown.map(printable).join(", ")}, and there is no such agent`;
  return [{ level: "warning", code: "mcp-no-agent", subject: `MCP server ${name}`, text }];
}

function whyNotThere(
  { reach }: McpServer,
  { variable }: Pick<Environment, "variable">,
): string | undefined {
  if (reach.kind === "http") return undefined;
  const { command, cwd } = reach;
  if (cwd !== undefined && !isFolder(cwd)) return `its folder ${cwd} is not there`;
  const folders = (variable("PATH") ?? "").split(delimiter);
  const places =
    isAbsolute(command) || command.includes("/")
      ? [resolve(cwd ?? "", command)]
      : folders.map((folder) => join(folder, command));
  return process.platform === "win32" || places.some(isProgram)
    ? undefined
    : `its program "${command}" is not there`;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
