// Connects MCP servers in tests.
import { fileURLToPath } from "node:url";
import type { HostSession, ToolServerNote } from "@clew/engine-core";
import { onTestFinished } from "vitest";
import { createMcpPort } from "../mcp/client/mcp-port.ts";
import {
  createMcpTools,
  type McpTools,
  type McpToolsOptions,
  usualVariables,
} from "../mcp/client/mcp-tools.ts";
import { type McpServer, SERVER_DEFAULTS } from "../mcp/client/server.ts";
import type { Approve } from "../tools/tool.ts";

const SCRIPT = fileURLToPath(new URL("./mcp-scripted.ts", import.meta.url));

/** How settings name it. */
export const scriptedSettings = (...flags: string[]) => ({
  command: process.execPath,
  args: [SCRIPT, ...flags],
});

export const scripted = (flags: string[] = [], more: Partial<McpServer> = {}): McpServer => ({
  ...{ name: "scripted", ...SERVER_DEFAULTS },
  reach: { kind: "program", command: process.execPath, args: [SCRIPT, ...flags], env: {} },
  ...more,
});

export const SESSION: HostSession = {
  ...{ agentId: "main", sessionKey: "agent:main:main", sessionId: "s1" },
};

export interface McpWorld {
  tools: McpTools;
  log: string[];
  notes: ToolServerNote[];
  /** Names of the tools that the next request offers, without what they all begin with. */
  offered(): Promise<string[]>;
  call(name: string, given?: Record<string, unknown>): Promise<string>;
  stop: AbortController;
}

/** Those servers, with the turn of one session that goes on for ever. */
export function mcpWorld(
  servers: readonly McpServer[],
  { approve, ...more }: Partial<McpToolsOptions> & { approve?: Approve } = {},
): McpWorld {
  const log: string[] = [];
  const write = (level: string) => (text: string) => void log.push(`${level}: ${text}`);
  const lines = { info: write("info"), warn: write("warn") };
  const usual = usualVariables((name) => process.env[name]);
  const tools = createMcpTools({ servers, log: lines, usual, hurry: 50, ...more });
  onTestFinished(() => tools.close());
  const base = { list: () => [], run: () => Promise.reject(new Error("nobody has that tool")) };
  const port = createMcpPort({ base, sources: [tools], approve });
  const notes: ToolServerNote[] = [];
  port.listen((note) => notes.push(note));
  const stop = new AbortController();
  const request = { session: SESSION, signal: stop.signal };
  return {
    ...{ tools, log, notes, stop },
    async offered() {
      await port.refresh(request);
      return port.list(SESSION).map(({ name }) => name.replace(/^mcp__[^_]+__/, ""));
    },
    async call(name, given = {}) {
      const call = { type: "toolCall" as const, id: "1", name, arguments: given };
      const { content, isError } = await port.run({ call, ...request });
      const text = content
        .map((block) => (block.type === "text" ? block.text : `<${block.type}>`))
        .join("\n");
      return isError ? `error: ${text}` : text;
    },
  };
}

/** Waits until it holds, for some seconds at most. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("it never came to that");
}
