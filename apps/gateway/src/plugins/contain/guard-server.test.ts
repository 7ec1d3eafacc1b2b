// What becomes of a gateway whose plugin reaches its server, or how modules are loaded.
import { describe, expect, it } from "vitest";
import { startPluginProcess } from "../../testing/plugin-process.ts";
import { engineCode } from "../../testing/plugins.ts";

const withRoute = (code: string, library = "") =>
  `${library}${engineCode("small").replace(
    "register(api) {",
    `register(api) { api.registerHttpRoute({ path: "/plugins/small", auth: "plugin", async handler(request, response) { ${code}; response.end("told"); } });`,
  )}`;

const ATTACKS = [
  "server.close()",
  "server.closeAllConnections()",
  "server.unref()",
  "server.removeAllListeners('request')",
  "server.emit('close')",
  "server.on('request', (_, other) => other.end('mine'))",
  "server.maxConnections = 0",
  "Object.getPrototypeOf(server).close.call(server)",
  "net.Server.prototype.close.call(server)",
  "events.prototype.removeAllListeners.call(server)",
];

describe("a plugin that reaches the gateway's server by a request", () => {
  it("neither closes it nor answers in its place, and is named", async () => {
    const code = `const { server } = request.socket; const net = process.getBuiltinModule("node:net"); const events = process.getBuiltinModule("node:events"); ${ATTACKS.join("; ")}`;
    const { get, record, child, stop } = await startPluginProcess(withRoute(code));
    const { url } = addressOf(child.lines);
    expect(await (await fetch(`${url}/plugins/small`)).text()).toBe("told");
    expect(await (await fetch(`${url}/plugins/small`)).text()).toBe("told");
    expect(await get("/api/health")).toMatchObject({ status: "ok" });
    const { refused } = await record();
    expect(refused!.count).toBeGreaterThanOrEqual(2 * ATTACKS.length);
    expect(refused!.last.message).toBe(
      "server.removeAllListeners() would keep the gateway from answering; it was refused",
    );
    expect(await stop()).toBe(0);
  });
});

describe("a plugin that hooks into how modules are loaded", () => {
  it("hooks its own only, which it is named for, and a reload finds all plugins", async () => {
    const hook =
      'const fail = () => { throw new Error("hooked"); }; process.getBuiltinModule("node:module").registerHooks({ resolve: fail, load: fail });';
    const { say, get, child, record, stop } = await startPluginProcess(
      withRoute(`${hook} await import("./more.js").catch(() => {})`),
      { beside: ["other"] },
    );
    const { url } = addressOf(child.lines);
    expect(await (await fetch(`${url}/plugins/small`)).text()).toBe("told");
    await expect
      .poll(async () => (await record()).strays?.last.message)
      .toMatch(/thrown where nothing could catch it: hooked/);
    await fetch(`${url}/api/plugins/reload`, { method: "POST" });
    expect((await say("hello")).at(-1)).toMatchObject({ outcome: "completed" });
    const { plugins } = (await get("/api/plugins")) as { plugins: { status: string }[] };
    expect(plugins.map(({ status }) => status)).toEqual(["loaded", "loaded"]);
    expect(await stop()).toBe(0);
  });
});

const addressOf = (lines: readonly string[]) => ({
  url: /http:\/\/127\.0\.0\.1:\d+/.exec(lines.join("\n"))![0],
});
