import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { strayFindings } from "../doctor/plugin-findings.ts";
import { temporaryHome } from "../testing/home.ts";
import { engineCode, startServedGateway, writePlugin } from "../testing/plugins.ts";
import { installPlugin } from "./install/install.ts";

const TOKEN = "a-token-of-the-person";
const GENEROUS = { timeout: 60_000, interval: 50 };

/** A plugin whose register runs these lines, the first of them line 2 of its file. */
const registering = (...lines: string[]) =>
  `export default { register(api) {\n${lines.join("\n")}\n} };\n`;

async function serve(code: string, files: Record<string, string> = {}, slots = {}) {
  const home = await temporaryHome();
  const folder = join(home, "small");
  writePlugin(folder, { code, files });
  const entries = { small: { hooks: { allowConversationAccess: true } } };
  const plugins = { load: { paths: [folder] }, entries, slots };
  return startServedGateway({ plugins, gateway: { auth: { token: TOKEN } } }, home);
}

describe("an error of a plugin is told with the line of its own code", () => {
  it.each([
    [
      "that register runs",
      registering("", 'throw new Error("no key.");'),
      'Plugin "small" failed in register: no key, at index.js:3.',
    ],
    [
      "at the top of its entry",
      '\n\nthrow new TypeError("no database");\n',
      'Plugin "small" cannot be loaded: no database, at index.js:3.',
    ],
    [
      "in a file that its entry imports",
      'import "./lib/store.js";\n',
      "Plugin \"small\" cannot be loaded: Cannot read properties of undefined (reading 'y'), at lib/store.js:2.",
    ],
    [
      "that is no JavaScript, in a file that its entry imports",
      'import "./lib/broken.js";\n',
      "Plugin \"small\" cannot be loaded: Unexpected token ';', at lib/broken.js:2.",
    ],
  ])("%s, in its record and by a trial install", async (_where, code, reason) => {
    const files = {
      "lib/store.js": "const x = {};\nx.x.y;\n",
      "lib/broken.js": "export const a = 1;\nexport const b = ;\n",
    };
    const { plugins } = await serve(code, files);
    expect(plugins.records()[0]!.reason).toBe(reason);
    const scratch = await temporaryHome();
    writePlugin(join(scratch, "small"), { code, files });
    const place = {
      home: join(scratch, "home"),
      configFile: join(scratch, "c.json"),
      cwd: scratch,
    };
    await expect(installPlugin({ spec: "./small" }, place)).rejects.toThrow(reason.slice(0, -1));
  });

  it("that a hook, a service or a method runs, in the log, a service in the doctor's findings as well, and a method answers as a route does", async () => {
    const { log, server, plugins } = await serve(
      registering(
        'api.on("message_received", () => { throw new Error("hook"); });',
        'api.registerService({ id: "s", start: async () => {\nthrow new Error("service"); } });',
        'api.registerGatewayMethod("m", () => {\nthrow new Error("method."); });',
      ),
    );
    plugins.startServices();
    const answer = await fetch(`${server.url}/api/plugins/methods/m`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect([answer.status, await answer.json()]).toMatchObject([
      500,
      {
        error: {
          code: "INTERNAL",
          message: 'Plugin "small": method m failed: method, at index.js:6.',
        },
      },
    ]);
    await fetch(`${server.url}/api/sessions/main/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${TOKEN}` },
      body: JSON.stringify({ text: "hello" }),
    }).then((response) => response.text());
    for (const line of [
      "error [plugins] small: hook message_received failed: hook, at index.js:2",
      "warn [plugins] small: service s did not start: service, at index.js:4",
    ])
      await vi.waitFor(() => expect(log.lines).toContain(line), GENEROUS);
    const [record] = plugins.records();
    expect(record!.failedHooks).toMatchObject({
      ...{ count: 1, last: { message: "hook message_received failed: hook, at index.js:2" } },
    });
    expect(strayFindings(record!)).toMatchObject([
      {
        code: "plugin-hook-failed",
        text: expect.stringMatching(
          /^a hook that failed, at .*: hook message_received failed: hook, at index\.js:2; the gateway goes on/,
        ),
      },
    ]);
    expect(record!.diagnostics).toEqual([
      { level: "error", message: "service s did not start: service, at index.js:4" },
    ]);
  });

  it("that an engine's method runs, in the report and in what sets it aside", async () => {
    const code = engineCode(
      "small",
      "assemble: async () => { throw new Error('the disk is full'); },",
    );
    const line = code.slice(0, code.indexOf("the disk")).split("\n").length;
    const { gateway } = await serve(code, {}, { contextEngine: "small" });
    const { report } = await gateway.send({ key: "main", content: "hello" });
    expect(report.engine.degraded?.reason).toBe(`the disk is full, at index.js:${line}`);
  });
});
