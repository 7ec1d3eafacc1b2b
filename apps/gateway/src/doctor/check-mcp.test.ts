import { describe, expect, it } from "vitest";
import { checkConfigText } from "../config/load.ts";
import type { GatewayLookup } from "../gateway-client.ts";
import type { McpServerStatus } from "../mcp/client/live-server.ts";
import { checkMcp } from "./check-mcp.ts";

const environment = {
  variable: (name: string) => (name === "PATH" ? process.env.PATH : undefined),
  userHome: "/",
};
const none: GatewayLookup = { kind: "none" } as GatewayLookup;
const check = (servers: object, lookup = none) =>
  checkMcp(
    checkConfigText(JSON.stringify({ mcp: { servers } }), "clew.json").config,
    environment,
    lookup,
  );
const running = (servers: Partial<McpServerStatus>[]): GatewayLookup =>
  ({
    kind: "running",
    gateway: { request: async () => ({ status: 200, body: { servers } }) },
  }) as unknown as GatewayLookup;

describe("the doctor, of MCP servers", () => {
  it("says nothing where there are none", async () => {
    expect(await check({})).toEqual([]);
    expect(await check({ off: { command: "x", enabled: false } })).toEqual([]);
  });

  it.each([
    [{ command: "sh" }, "mcp", /"clew mcp status" tries it out/],
    [{ url: "https://example.com/mcp" }, "mcp", /first turn/],
    [{ command: "no-such-program" }, "mcp-unusable", /program "no-such-program" is not there/],
    [{ command: "sh", cwd: "/no/such/folder" }, "mcp-unusable", /folder \/no\/such\/folder/],
    [{ command: "sh", env: ["NOT_SET_TOKEN"] }, "mcp-unusable", /NOT_SET_TOKEN is not set/],
    [{ command: "sh", agents: ["nobody"] }, "mcp-no-agent", /there is no such agent/],
  ])("says of %j what is wrong with it", async (server, code, text) => {
    const [finding] = await check({ x: server });
    expect(finding).toMatchObject({
      code,
      subject: "MCP server x",
      text: expect.stringMatching(text),
    });
  });

  it("tells how the running gateway has them", async () => {
    const about = { name: "Files", version: "1.2", revision: "2025-11-25" };
    const common = { about, tools: [], odd: 0, left: [], reach: "" };
    const problem = { kind: "ended" as const, text: "it ended with exit code 1" };
    const found = await check(
      { a: { command: "sh" }, b: { command: "sh" }, c: { command: "sh" } },
      running([
        { ...common, name: "a", state: "ready", problem: null },
        { ...common, name: "b", state: "off", problem },
        { ...common, name: "c", state: "ready", problem: null, left: ['"a", which it has not'] },
      ]),
    );
    expect(found).toEqual([
      { level: "ok", code: "mcp", subject: "MCP server a", text: "0 tools, Files 1.2" },
      {
        ...{ level: "warning", code: "mcp-not-there", subject: "MCP server b" },
        text: 'is off until it is asked for: it ended with exit code 1; it is asked for with "clew mcp restart b"',
      },
      {
        ...{ level: "warning", code: "mcp-not-offered", subject: "MCP server c" },
        text: '0 tools, Files 1.2; not offered: "a", which it has not',
      },
    ]);
  });
});
