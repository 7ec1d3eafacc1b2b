import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clew, runClew, startClew } from "../../testing/command.ts";
import { temporaryHome } from "../../testing/home.ts";
import { copyTidepool, startServedGateway, writePlugin } from "../../testing/plugins.ts";

const CONFIG = "{ gateway: { port: 9 } } // mine\n";

async function openHome() {
  const scratch = await temporaryHome();
  const home = join(scratch, "home");
  mkdirSync(home);
  writeFileSync(join(home, "clew.json"), CONFIG);
  return {
    ...{ scratch, home },
    clew: (...args: string[]) => clew(home, args),
    runClew: (...args: string[]) => runClew(home, args),
  };
}

describe("clew plugins", () => {
  it("installs, shows, switches and removes a plugin", async () => {
    const { scratch, home, clew, runClew } = await openHome();
    const source = copyTidepool(scratch);
    expect((await clew("plugins", "list")).output).toMatch(
      /^plugin .*\n[- ]+\nlossless +\S+ +off +bundled: [^\n]*\nlossless: it comes with Clew/,
    );
    expect(await runClew("plugins", "install", "--yes", source)).toEqual({
      code: 0,
      errors: "",
      output: [
        "Installed tidepool-context 0.3.1.",
        'plugins.slots.contextEngine: unset -> "tidepool"; to go back: clew config set plugins.slots.contextEngine legacy',
        `Its tools: tide_grep, tide_count, tide_forget. Not marked as read-only, and asking before they run: tide_count, tide_forget; to let them run unasked: clew config set plugins.entries.tidepool-context.tools.allow '["tide_count","tide_forget"]'`,
        "No gateway is running; the change takes effect at the next start.",
      ].join("\n"),
    });
    expect((await clew("plugins", "list")).output).toMatch(
      /tidepool-context +0\.3\.1 +on +installed: /,
    );
    const shown = (await clew("plugins", "inspect", "tidepool-context")).output;
    expect(shown).toContain("Tidepool 0.3.1 (tidepool-context)");
    expect(shown).toContain("--runtime");
    const runtime = JSON.parse(
      (await clew("plugins", "inspect", "tidepool-context", "--runtime", "--json")).output,
    ) as {
      runtime: object[];
    };
    expect(runtime.runtime).toMatchObject([
      {
        status: "loaded",
        engines: ["tidepool"],
        commands: ["tidepool", "rockpool", "tide", "pool"],
      },
    ]);
    expect((await clew("plugins", "doctor")).output).toMatch(
      /^ok +plugin tidepool-context: 0\.3\.1, installed: engine tidepool/,
    );
    expect((await runClew("chat", "My boat is called Pelican.")).code).toBe(0);
    expect((await clew("chat", "/tide")).output).toBe(
      "Tidepool holds 2 messages (status for agent:main:main; slot tidepool).",
    );
    expect((await clew("chat", "/engine")).output).toContain("Engine: tidepool (Tidepool 0.3.1");
    expect((await clew("doctor")).output).toContain(
      'tidepool 0.3.1 of plugin "tidepool-context" (configured)',
    );
    expect((await clew("plugins", "disable", "tidepool-context")).output).toContain(
      'plugins.slots.contextEngine stays "tidepool"',
    );
    expect((await clew("plugins", "enable", "tidepool-context")).code).toBe(0);
    expect((await clew("plugins", "update")).output).toContain(
      "tidepool-context 0.3.1 is up to date",
    );
    expect(await clew("plugins", "reload")).toMatchObject({
      code: 1,
      errors:
        "clew: Nothing was reloaded: no gateway is running; plugins are loaded when one starts. [GATEWAY_UNREACHABLE]",
    });
    expect((await clew("plugins", "uninstall", "tidepool-context", "--dry-run")).output).toContain(
      "plugins/tidepool-context is removed",
    );
    expect((await clew("plugins", "uninstall", "tidepool-context")).output).toContain(
      "Uninstalled tidepool-context.",
    );
    expect(readFileSync(join(home, "clew.json"), "utf8")).toBe(CONFIG);
    expect(existsSync(join(home, "plugins"))).toBe(false);
    expect(readFileSync(join(source, "lib/index.js"), "utf8")).toContain("tidepool");
  });

  it("answers programs in JSON whatever it does, and tells tools and another version", async () => {
    const { scratch, clew } = await openHome();
    const folder = writePlugin(join(scratch, "small"), {
      manifest: { version: "0.9.0", contracts: { tools: ["dig"] } },
      packageJson: { version: "1.0.0" },
      code: `export default (api) => {
        api.registerTool({ name: "dig", description: "", parameters: {}, execute() {} });
        api.registerMemoryCapability({ promptBuilder: () => [] });
        api.on("before_lunch", () => {});
        api.on("agent_ends", () => {});
      };`,
    });
    const json = async (...args: string[]): Promise<unknown> => {
      const { output, errors } = await clew("plugins", ...args, "--json");
      expect(errors).toBe("");
      return JSON.parse(output);
    };
    await json("install", folder, "--yes");
    const effect = expect.stringContaining("next start") as string;
    const id = { pluginId: "small" };
    expect(await json("disable", "small")).toEqual({ ...id, enabled: false, notes: [], effect });
    expect(await json("enable", "small")).toMatchObject({ ...id, enabled: true, effect });
    expect(await json("update")).toMatchObject({
      ...{ plugins: [{ ...id, changed: false }], effect: null },
    });
    const shown = (await clew("plugins", "inspect", "small", "--runtime")).output;
    expect(shown).toContain("small 1.0.0 (small; its manifest says 0.9.0)");
    expect(shown).toContain("small: loaded; tools dig; a memory");
    expect(shown).toContain('hook "agent_ends" is never called by this host; did you mean');
    expect((await clew("chat", "hello")).errors).not.toContain("[plugins]");
    const gone = { ...id, notes: expect.any(Array) as string[] };
    expect(await json("uninstall", "small", "--dry-run")).toEqual({
      ...{ plugins: [gone], dryRun: true, effect: null },
    });
    expect(await json("uninstall", "small")).toEqual({ plugins: [gone], dryRun: false, effect });
    const { code, output } = await clew("plugins", "uninstall", "small", "--json");
    expect([code, JSON.parse(output)]).toEqual([1, { plugins: [], dryRun: false, effect: null }]);
  });

  it("says what is wrong in one line, on the error stream", async () => {
    const { scratch, clew } = await openHome();
    const folder = writePlugin(join(scratch, "small"), {
      code: "export default { async register() {} };",
    });
    expect(await clew("plugins", "install", "--yes", folder)).toEqual({
      code: 1,
      output: "",
      errors:
        'clew: Plugin "small" cannot be loaded: plugin register must be synchronous. [PLUGIN_INVALID]',
    });
    expect((await clew("plugins", "inspect", "small")).errors).toBe(
      'clew: There is no plugin "small"; "clew plugins list" lists the existing ones. [PLUGIN_NOT_FOUND]',
    );
    expect(await clew("plugins", "install")).toEqual({
      code: 2,
      output: "",
      errors:
        "clew plugins install: <spec> is missing; for example: clew plugins install --link ./my-plugin [REQUEST_INVALID]",
    });
  });

  it("lists as broken what no start would load, with the reason", async () => {
    const { scratch, home, clew } = await openHome();
    const plugins = [
      ["worse", { type: "nothing" }],
      ["small", { type: "object", properties: { size: { type: "number" } } }],
    ] as const;
    const paths = plugins.map(([id, configSchema]) =>
      writePlugin(join(scratch, id), { id, manifest: { configSchema } }),
    );
    const entries = { small: { config: { size: "large" } } };
    writeFileSync(
      join(home, "clew.json"),
      JSON.stringify({ plugins: { load: { paths }, entries } }),
    );
    const { output } = await clew("plugins", "list");
    expect(output).toMatch(/small .* broken /);
    expect(output).toMatch(/worse .* broken /);
    expect(output).toContain("small: [plugins] small invalid config: size must be number; correct");
    expect(output).toContain("its configSchema is not a usable JSON Schema");
  });

  it("asks a gateway that runs which plugins it could not load, and what it warned of", async () => {
    const { scratch, home, clew } = await openHome();
    const paths = ["broken", "warned"].map((id) =>
      writePlugin(join(scratch, id), {
        id,
        manifest: { contracts: { tools: [`${id}_tool`] } },
        code: id === "broken" ? "throw new Error('at its import');" : "export default () => {};",
      }),
    );
    const config = { plugins: { load: { paths } } };
    const { leave, server } = await startServedGateway(config, home);
    const port = Number(new URL(server.url).port);
    writeFileSync(join(home, "clew.json"), JSON.stringify({ ...config, gateway: { port } }));
    const asked = (await clew("plugins", "list")).output;
    expect(asked).toMatch(/broken +1\.0\.0 +broken /);
    expect(asked).toMatch(/broken: Plugin "broken" cannot be loaded: at its import/);
    const warning = 'warned: tool "warned_tool" is declared in openclaw.plugin.json and was not';
    expect(asked).toContain(warning);
    await leave();
    const unasked = (await clew("plugins", "list")).output;
    expect(unasked).toMatch(/broken +1\.0\.0 +on /);
    expect(unasked).not.toContain(warning);
  });

  it("is shown what runs of it where it is never told that a gateway stops", async () => {
    const { scratch, home, runClew } = await openHome();
    const code =
      "export default (api) => { setInterval(() => {}, 1000); api.on('session_end', () => {}); };";
    const paths = [writePlugin(join(scratch, "small"), { code })];
    writeFileSync(join(home, "clew.json"), JSON.stringify({ plugins: { load: { paths } } }));
    const { code: exitCode, output } = await runClew("plugins", "inspect", "small", "--runtime");
    expect(exitCode).toBe(0);
    expect(output).toContain("small: loaded; hooks session_end");
  });

  it("ends although a plugin left a timer behind", async () => {
    const { scratch, runClew } = await openHome();
    const folder = writePlugin(join(scratch, "small"), {
      code: "export default { register() { setInterval(() => {}, 1000); } };",
    });
    expect((await runClew("plugins", "install", "--yes", folder)).code).toBe(0);
    expect((await runClew("chat", "hello")).code).toBe(0);
  });
});

describe("clew start", () => {
  it("goes on answering when a promise of a plugin fails unheard, and reloads plugins on command", async () => {
    const { scratch, home, clew } = await openHome();
    const code =
      "export default (api) => api.on('gateway_start', () => { setImmediate(async () => { throw new Error('stray'); }); });";
    const folder = writePlugin(join(scratch, "small"), { code });
    writeFileSync(
      join(home, "clew.json"),
      JSON.stringify({ plugins: { load: { paths: [folder] } } }),
    );
    const child = startClew(home, ["start", "--port", "0"]);
    const url = /http:\/\/127\.0\.0\.1:(\d+)/.exec(await child.nextLine());
    const log = () => readFileSync(join(home, "logs/gateway.log"), "utf8");
    await expect
      .poll(log)
      .toContain("[plugins] small: a promise was rejected and nothing handled it: stray");
    writeFileSync(
      join(folder, "index.js"),
      "export default (api) => api.registerContextEngine('late', () => 1);",
    );
    writeFileSync(
      join(home, "clew.json"),
      JSON.stringify({
        gateway: { port: Number(url?.[1]) },
        plugins: { load: { paths: [folder] } },
      }),
    );
    expect(await clew("plugins", "reload")).toEqual({
      code: 0,
      errors: "",
      output: `Reloaded at ${url?.[0]}.\nsmall: loaded; engines late`,
    });
    expect((await clew("plugins", "disable", "small")).output).toBe(
      `Disabled small.\nA gateway is running at ${url?.[0]}: "clew plugins reload" applies the change there, without a restart or a pause.`,
    );
    const health = (await (await fetch(`${url?.[0]}/api/health`)).json()) as {
      engine: { known: string[] };
    };
    expect(health.engine.known).toEqual(["legacy", "late"]);
    child.process.kill("SIGTERM");
    expect(await child.exit).toBe(0);
  });
});
