// What the servers are to a session that an editor sends with it.
import type { McpServer as SentServer } from "@agentclientprotocol/sdk";
import { soundsSecret } from "../config/command-environment.ts";
import type { HarnessFacts } from "../harness/harness.ts";
import { type McpServer, SERVER_DEFAULTS } from "../mcp/client/server.ts";
import { visible } from "../text/visible.ts";

/** Shorter ones would be found in words that are none. */
const LEAST_SECRET_CHARS = 8;

/** Pure. Why none of them is used; null: they are, or there are none. */
export function describeUnused(
  servers: readonly SentServer[],
  runsIn: Pick<HarnessFacts, "label" | "takesTools"> | null,
): string | null {
  if (servers.length === 0 || runsIn === null || runsIn.takesTools) return null;
  const names = visible(servers.map(({ name }) => name).join(", "));
  return `${runsIn.label} runs the turns of this session and uses none of the MCP servers that the editor sends (${names}); its model has that program's own tools.`;
}

/** Pure. They are started in the session's folder. */
export const planServers = (servers: readonly SentServer[], cwd: string): McpServer[] =>
  servers.map((sent) => ({ ...SERVER_DEFAULTS, name: sent.name, ...planReach(sent, cwd) }));

type Reach = Pick<McpServer, "reach" | "secrets" | "problem">;

function planReach(sent: SentServer, cwd: string): Reach {
  if (!("type" in sent)) {
    const { command, args } = sent;
    const env = valuesOf(sent.env);
    const secrets = Object.entries(env).flatMap(([name, value]) =>
      soundsSecret(name) ? [value] : [],
    );
    return { reach: { kind: "program", command, args, env, cwd }, secrets: longEnough(secrets) };
  }
  const { url } = sent;
  const headers = valuesOf(sent.headers);
  const secrets = Object.values(headers).map((value) =>
    value.replace(/^(Bearer|Basic|Token) +/i, ""),
  );
  const reach = { kind: "http", url, headers } as const;
  return {
    ...{ reach, secrets: longEnough(secrets) },
    ...(sent.type === "sse" && { problem: "it is reached by SSE, which is not spoken here" }),
  };
}

const valuesOf = (given: readonly { name: string; value: string }[]): Record<string, string> =>
  Object.fromEntries(given.map(({ name, value }) => [name, value]));

const longEnough = (secrets: readonly string[]): string[] =>
  secrets.filter(({ length }) => length >= LEAST_SECRET_CHARS);
