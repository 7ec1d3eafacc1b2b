import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { OWN_WORDS } from "../plugins/offer/own-words.ts";
import { enterSafeMode } from "../plugins/safe-mode.ts";
import { clew, runClew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";
import { writePlugin } from "../testing/plugins.ts";
import { createProgram } from "./program.ts";

const CODE = `export default (api) => {
  const tell = (...said) => (globalThis.tideSaid ??= []).push(said);
  if (api.registrationMode !== "cli-metadata") tell("loaded for " + api.registrationMode);
  api.registerService({ id: "clock", start() { tell("a service ran"); } });
  api.registerCli(({ program, workspaceDir, config, logger }) => {
    const tide = program.command("tide");
    tide.hook("preAction", () => tell("before"));
    tide.command("level").argument("<place>").option("--metres").action((place, options) => {
      tell(place, options, typeof workspaceDir, config.plugins !== undefined, typeof logger.info);
    });
    tide.command("leave").action(() => process.exit(3));
    tide.command("fail").action(async () => { throw new Error("low water"); });
  }, { descriptors: [{ name: "tide", description: "Reads the tide.", hasSubcommands: true }] });
  api.registerCli(({ program }) => { program.command("below").action(() => tell("below", program.name())); },
    { commands: ["below"], parentPath: ["plugins"] });
  api.registerCli(() => {}, { commands: ["absent"] });
  api.registerCli(({ program }) => { program.command("start"); }, { commands: ["twice"] });
};`;

async function home() {
  const folder = await temporaryHome();
  const plugin = writePlugin(join(folder, "sources/tide"), { id: "tide", code: CODE });
  writeFileSync(
    join(folder, "clew.json"),
    JSON.stringify({ plugins: { load: { paths: [plugin] } } }),
  );
  const world = globalThis as { tideSaid?: unknown[] };
  onTestFinished(() => {
    delete world.tideSaid;
  });
  return { folder, said: () => world.tideSaid };
}

describe("a command that a plugin adds to the command line", () => {
  it("may end its process", async () => {
    const { folder } = await home();
    expect(await runClew(folder, ["tide", "leave"])).toEqual({ code: 3, output: "", errors: "" });
  });

  it("runs under its word, without a gateway and without services", async () => {
    const { folder, said } = await home();
    expect((await clew(folder, ["tide", "level", "Husum", "--metres"])).code).toBe(0);
    expect(said()).toEqual([["before"], ["Husum", { metres: true }, "string", true, "function"]]);
  });

  it("is in the help of all commands, with its line", async () => {
    const { folder, said } = await home();
    for (const asked of ["--help", "-h", "help"]) {
      const { output, code } = await clew(folder, [asked]);
      expect(code).toBe(0);
      expect(output).toMatch(
        /\nCommands of plugins:\n {2}tide +Reads the tide\. \(plugin tide\)\n {2}plugins below +\(plugin tide\)\n/,
      );
    }
    expect(said()).toBeUndefined();
    expect((await clew(await temporaryHome(), ["--help"])).output).not.toContain("of plugins:");
  });

  it("may stand in one of our groups, and has help", async () => {
    const { folder, said } = await home();
    expect((await clew(folder, ["plugins", "below"])).code).toBe(0);
    expect(said()).toEqual([["below", "plugins"]]);
    const help = await clew(folder, ["tide", "--help"]);
    expect(help.code).toBe(0);
    expect(help.output).toContain("Usage: clew tide");
    expect(help.output).toContain("Reads the tide.");
  });

  it("of a plugin in safe mode is not known, and why is said", async () => {
    const { folder } = await home();
    enterSafeMode(folder, "tide", { at: "2026-05-04T03:02:01Z", reason: "slept" });
    expect(await clew(folder, ["tide", "level", "Husum"])).toEqual({
      code: 2,
      output: "",
      errors:
        'clew: unknown command "tide". "clew --help" lists what there is. Plugins off in safe mode may have it (tide); "clew plugins enable tide" brings one back. [REQUEST_INVALID]',
    });
  });

  it("that fails, is missing or cannot be added is one sentence", async () => {
    const { folder } = await home();
    expect(await clew(folder, ["tide", "fail"])).toMatchObject({
      code: 1,
      errors: expect.stringMatching(/^clew: Plugin "tide": low water.* \[PLUGIN_INVALID\]$/),
    });
    expect(await clew(folder, ["absent"])).toMatchObject({
      code: 1,
      errors: expect.stringContaining(
        'Plugin "tide" says that it has the command "absent", and did not add it.',
      ),
    });
    expect((await clew(folder, ["twice"])).errors).toMatch(
      /Plugin "tide" could not add its command "twice": .*start/,
    );
  });

  it("knows itself which words stand below it", async () => {
    const { folder } = await home();
    expect(await clew(folder, ["tide", "ebb"])).toMatchObject({
      code: 2,
      errors: expect.stringMatching(/^clew tide: unknown command "ebb"\. .* \[REQUEST_INVALID\]$/),
    });
    expect((await clew(folder, ["tide", "level"])).errors).toContain("> is missing.");
  });

  it("does not get a word that is ours, which every look at the plugin says", async () => {
    const { folder } = await home();
    const code =
      "export default (api) => { api.registerCli(() => {}, { commands: ['doctor', 'fair'] }); api.registerCli(() => {}, { commands: ['chat'] }); };";
    writePlugin(join(folder, "sources/tide"), {
      ...{ id: "tide", code, manifest: { contracts: { tools: ["tide_level"] } } },
    });
    const told = [
      'tool "tide_level" is declared in openclaw.plugin.json and was not registered, so no model is told of it',
      'the program "doctor" belongs to clew itself; it is left out',
      'the program "chat" belongs to clew itself; it is left out',
    ];
    const inspected = (await clew(folder, ["plugins", "inspect", "tide", "--runtime"])).output;
    const found = (await clew(folder, ["plugins", "doctor"])).output;
    for (const each of told) {
      expect(inspected).toContain(each);
      expect(found).toContain(`warning  plugin tide: ${each}`);
    }
    expect(inspected).toContain("programs clew fair");
    const chat = await clew(folder, ["chat", "hello"]);
    expect(chat.errors).toContain(`[plugins] tide: ${told[0]}`);
  });

  it("finds every word of ours taken", () => {
    const program = createProgram(undefined as never, () => {});
    const words = program.commands.flatMap((each) => [each.name(), ...each.aliases()]);
    expect([...OWN_WORDS].sort()).toEqual([...words, "help"].sort());
  });

  it("is not asked for where the word is ours, and where no plugin has it we say so", async () => {
    const { folder, said } = await home();
    await clew(folder, ["config", "get", "gateway.port"]);
    expect(said()).toBeUndefined();
    expect(await clew(folder, ["tidal"])).toMatchObject({
      code: 2,
      errors: expect.stringMatching(/clew: unknown command "tidal"/),
    });
  });
});

describe("the help of all commands", () => {
  it("asks no plugin again until something changes that decides which commands there are", async () => {
    const folder = await temporaryHome();
    const source = join(folder, "sources/tide");
    const write = (name: string) =>
      writePlugin(source, {
        id: "tide",
        code: `import { appendFileSync } from "node:fs";
appendFileSync(${JSON.stringify(join(folder, "loaded"))}, "x");
export default (api) => api.registerCli(() => {}, { descriptors: [{ name: ${JSON.stringify(name)}, description: "Tide." }] });`,
      });
    write("tide");
    writeFileSync(
      join(folder, "clew.json"),
      JSON.stringify({ plugins: { load: { paths: [source] } } }),
    );
    const helped = async () => (await runClew(folder, ["--help"], { fromSource: true })).output;
    const loads = () => readFileSync(join(folder, "loaded"), "utf8").length;
    expect(await helped()).toContain("tide");
    expect(await helped()).toMatch(/\nCommands of plugins:\n {2}tide +Tide\. \(plugin tide\)/);
    expect(loads()).toBe(1);
    write("height");
    expect(await helped()).toMatch(/\n {2}height +Tide\./);
    expect(loads()).toBe(2);
    enterSafeMode(folder, "tide", { at: new Date().toISOString(), reason: "it was slow" });
    expect(await helped()).not.toContain("of plugins:");
    expect(loads()).toBe(2);
  });

  it("is there though the records of installs cannot be read", async () => {
    const folder = await temporaryHome();
    mkdirSync(join(folder, "plugins"), { recursive: true });
    writeFileSync(join(folder, "plugins/installs.json"), "{");
    expect((await clew(folder, ["--help"])).output).toContain("sessions");
  });
});
