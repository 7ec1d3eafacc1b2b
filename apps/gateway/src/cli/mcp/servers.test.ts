import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clew } from "../../testing/command.ts";
import { post, startTestGateway } from "../../testing/gateway.ts";
import { temporaryHome } from "../../testing/home.ts";
import { scriptedSettings } from "../../testing/mcp.ts";

const SERVERS = {
  good: { ...scriptedSettings(), tools: ["echo", "note"] },
  bad: scriptedSettings("--exit"),
  unused: { ...scriptedSettings(), enabled: false },
};

async function homeWith(servers: object, port = 1): Promise<string> {
  const home = await temporaryHome();
  await writeFile(join(home, "clew.json"), JSON.stringify({ gateway: { port }, mcp: { servers } }));
  return home;
}

describe("clew mcp list", () => {
  it("lists the servers of the settings, and starts none", async () => {
    const home = await homeWith(SERVERS);
    const { code, output } = await clew(home, ["mcp", "list"]);
    expect(code).toBe(0);
    const lines = output.trim().split("\n");
    expect(lines).toHaveLength(3);
    expect(lines[1]).toMatch(/^good .* starts with the first turn that may use it$/);
    expect(lines[2]).toMatch(/^unused .* is switched off \(enabled: false\)$/);
  });

  it("says how to add one where there is none", async () => {
    const { output } = await clew(await homeWith({}), ["mcp", "list"]);
    expect(output).toMatch(/^There are no MCP servers; "clew config set mcp.servers.NAME.command/);
  });
});

describe("clew mcp status", () => {
  it("tries the servers out where no gateway runs", async () => {
    const home = await homeWith(SERVERS);
    const { code, output } = await clew(home, ["mcp", "status"]);
    expect(code).toBe(1);
    expect(output).toMatch(/^bad: .*it ended with exit code 3/m);
    expect(output).toMatch(/^good: 2 tools, scripted 1\.0\.0; speaks MCP 2025-11-25$/m);
    expect(output).toMatch(/^ {4}mcp__good__note {2}\(asks\) {2}does note$/m);
    const one = await clew(home, ["mcp", "status", "good", "--json"]);
    expect(one.code).toBe(0);
    expect(JSON.parse(one.output).servers).toMatchObject([{ name: "good", state: "ready" }]);
  });

  it("refuses a server that nobody set up", async () => {
    const { code, errors } = await clew(await homeWith(SERVERS), ["mcp", "status", "files"]);
    expect(code).not.toBe(0);
    expect(errors).toContain('No MCP server of the settings is called "files"');
  });
});

describe("clew mcp", () => {
  it("serves no agent that there is not", async () => {
    const { code, errors } = await clew(await homeWith({}), ["mcp", "--agent", "nobody"]);
    expect(code).toBe(2);
    expect(errors).toBe('clew: There is no agent "nobody"; there is: main. [REQUEST_INVALID]');
  });
});

describe("clew mcp restart", () => {
  it("needs a gateway", async () => {
    const { errors } = await clew(await homeWith(SERVERS), ["mcp", "restart", "good"]);
    expect(errors).toContain("No gateway of this home runs");
  });
});

describe("MCP servers of a running gateway", () => {
  it("are told with what the settings say since it read them", async () => {
    const home = await temporaryHome();
    const { good } = SERVERS;
    const servers = { good, gone: { ...good, enabled: true }, moved: good };
    await startTestGateway({ mcp: { servers } }, home);
    const since = { good, new: good, moved: scriptedSettings("--mute") };
    const settings = { gateway: { port: 1 }, mcp: { servers: since } };
    await writeFile(join(home, "clew.json"), JSON.stringify(settings));
    const { output } = await clew(home, ["mcp", "list"]);
    const start = 'reads the settings when it starts: "clew stop" and "clew start"';
    expect(output.trim().split("\n")).toEqual([
      expect.stringMatching(
        `^gone .*; the settings do not have it any more, and the gateway ${start}$`,
      ),
      expect.stringMatching(/^good .* starts with the first turn that may use it$/),
      expect.stringMatching(/^moved .*; the settings have another program or address for it, and/),
      expect.stringMatching(`^new .* is not read yet: the gateway ${start}$`),
    ]);
    const status = await clew(home, ["mcp", "status", "new"]);
    expect(status.output).toContain("new: is not read yet");
    expect(status.code).toBe(1);
    const { errors } = await clew(home, ["mcp", "restart", "new"]);
    expect(errors).toContain('The running gateway has not read MCP server "new"');
  });

  it("are told of and connected anew over HTTP", async () => {
    const { get } = await startTestGateway({ mcp: { servers: { good: SERVERS.good } } });
    const before = (await (await get("/api/mcp")).json()) as { servers: { state: string }[] };
    expect(before.servers).toMatchObject([{ name: "good", state: "idle", tools: [] }]);
    const started = await (await get("/api/mcp?start=1")).json();
    expect(started).toMatchObject({ servers: [{ state: "ready", odd: 0 }] });
    const again = await get("/api/mcp/good/restart", post({}));
    expect(await again.json()).toMatchObject({ server: { name: "good", state: "ready" } });
    expect((await get("/api/mcp/other/restart", post({}))).status).toBe(404);
  });
});
