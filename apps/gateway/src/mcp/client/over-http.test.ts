import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { createMcpHandler, McpServer as ScriptedServer } from "@modelcontextprotocol/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { mcpWorld, until } from "../../testing/mcp.ts";
import { type McpServer, SERVER_DEFAULTS } from "./server.ts";

const KEY = "Bearer right-key-0123";

/** A server of the official package, which counts what it is asked. */
async function serving({ port = 0 } = {}) {
  const seen = { echoes: 0, notes: 0 };
  const handler = createMcpHandler(() => {
    const server = new ScriptedServer(
      { name: "web", version: "2" },
      { capabilities: { tools: {} } },
    );
    const text = (words: string) => ({ content: [{ type: "text" as const, text: words }] });
    server.registerTool(
      "echo",
      { inputSchema: z.object({ text: z.string() }), annotations: { readOnlyHint: true } },
      (given) => {
        seen.echoes++;
        return text(`echo: ${given.text}`);
      },
    );
    server.registerTool("note", { inputSchema: z.object({}) }, () => {
      seen.notes++;
      return text("noted");
    });
    server.registerTool(
      "over",
      { inputSchema: z.object({}), annotations: { readOnlyHint: true } },
      () => text("x".repeat(33 * 1024 * 1024)),
    );
    return server;
  });
  const answer = getRequestListener(async (request) =>
    request.headers.get("authorization") === KEY
      ? handler.fetch(request)
      : new Response("who are you?", { status: 401 }),
  );
  const http = createServer(answer).listen(port, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(() => end(http));
  return { seen, http, port: (http.address() as AddressInfo).port };
}

function end(http: Server) {
  http.close();
  http.closeAllConnections();
}

const at = (port: number, authorization = KEY): McpServer => ({
  ...{ name: "web", ...SERVER_DEFAULTS, approval: "allow" },
  reach: { kind: "http", url: `http://127.0.0.1:${port}/mcp`, headers: { authorization } },
});

describe("an MCP server over HTTP", () => {
  it("is spoken to in the newest revision that it knows", async () => {
    const { port } = await serving();
    const { offered, call, tools } = mcpWorld([at(port)]);
    expect(await offered()).toEqual(["echo", "note", "over"]);
    expect(await call("mcp__web__echo", { text: "x" })).toBe("echo: x");
    expect(tools.status()[0]!.about).toMatchObject({ revision: "2026-07-28" });
    const legacy = mcpWorld([{ ...at(port), protocol: "legacy" }]);
    expect(await legacy.offered()).toHaveLength(3);
    expect(legacy.tools.status()[0]!.about).toMatchObject({ revision: "2025-11-25" });
  });

  it("that refuses the key is off, and the key is in no sentence", async () => {
    const { port } = await serving();
    const { offered, tools, log } = mcpWorld([at(port, "Bearer wrong-key-0123")]);
    expect(await offered()).toEqual([]);
    expect(tools.status()[0]).toMatchObject({ state: "off", problem: { kind: "refused" } });
    expect(log.join()).not.toContain("wrong-key");
  });

  it("that goes is asked again for what only reads, and for nothing else", async () => {
    const first = await serving();
    const { offered, call, tools } = mcpWorld([at(first.port)]);
    await offered();
    end(first.http);
    expect(await call("mcp__web__note")).toMatch(/^error: .*Whether it did anything is not known/);
    expect(tools.status()[0]!.state).not.toBe("ready");
    const second = await serving({ port: first.port });
    await until(() => tools.status()[0]!.state === "ready");
    expect(await call("mcp__web__echo", { text: "back" })).toBe("echo: back");
    end(second.http);
    const third = await serving({ port: first.port });
    expect(await call("mcp__web__echo", { text: "again" })).toBe("echo: again");
    expect([second.seen, third.seen.notes]).toEqual([{ echoes: 1, notes: 0 }, 0]);
  });

  it("that sends a message over the limit fails that call only", async () => {
    const { port } = await serving();
    const { offered, call } = mcpWorld([{ ...at(port), callTimeoutMs: 20_000 }]);
    await offered();
    expect(await call("mcp__web__over")).toMatch(/more than 32 MiB/);
    expect(await call("mcp__web__echo", { text: "x" })).toBe("echo: x");
  });
});
