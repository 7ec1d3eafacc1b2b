import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";
import { writePlugin } from "../testing/plugins.ts";

describe("clew config set", () => {
  it("shows what it set, but for secrets", async () => {
    const home = await temporaryHome();
    const shown = async (name: string, value: string) =>
      (await clew(home, ["config", "set", name, value])).output;
    expect(await shown("agents.defaults.compaction.lowWaterTokens", "9000")).toContain("= 9000 ");
    expect(await shown("session.mainKey", "main")).toContain('= "main" ');
    const apiKey = "models.providers.openai.apiKey";
    expect(await shown(apiKey, "sk-1234567890")).toContain(`${apiKey} = (hidden)`);
    const token = "0123456789abcdef";
    for (const value of [
      `[{ name: "ci", token: "${token}" }]`,
      `[{ name: "ci2", token: "${token}" }]`,
    ])
      expect(await shown("gateway.auth.tokens", value)).not.toContain(token);
  });

  it.each([
    "postgres://ann:S3cr3tPw@127.0.0.1:1/clew",
    "host=127.0.0.1 password='S3cr3tPw and more' port=1",
    " postgres://ann:S3cr3tPw@127.0.0.1:1/clew",
    "ann:S3cr3tPw@127.0.0.1:1/clew",
    "PGPASSWORD=S3cr3tPw postgres://ann@127.0.0.1:1/clew",
  ])("shows of the address %s no password, and neither do other commands", async (url) => {
    const home = await temporaryHome();
    for (const words of [
      ["config", "set", "storage.url", url],
      ["config", "get", "storage.url"],
      ["config", "get", "--json"],
      ["config", "set", "storage.driver", "postgres"],
      ["doctor"],
      ["sessions", "list"],
      ["storage", "copy", "--to", "files"],
      ["storage", "copy", "--to", "files", "--from", url],
    ]) {
      const { output, errors } = await clew(home, words);
      expect(output + errors).not.toContain("S3cr3t");
    }
  });
});

describe("clew config set of what Clew does not know", () => {
  it("is refused with what was meant, and stored only with --force", async () => {
    const home = await temporaryHome();
    const set = (...words: string[]) => clew(home, ["config", "set", ...words]);
    expect(await set("tools.wirte", "ask")).toMatchObject({
      code: 1,
      errors: expect.stringMatching(
        /no setting tools\.wirte; did you mean tools\.write\? "--force" stores it all the same\. \[CONFIG_INVALID\]$/,
      ),
    });
    expect((await set("channels.irc", "true")).errors).toContain("has no setting channels. ");
    await expect(readFile(join(home, "clew.json"), "utf8")).rejects.toThrow("ENOENT");
    expect(await set("channels.irc", "true", "--force")).toMatchObject({
      code: 0,
      errors: expect.stringContaining("channels: Clew has no such setting; it is ignored."),
    });
  });
});

describe("clew config set of a model, an engine or a program", () => {
  it("says at once what a mistyped one was meant to be, and so does clew config validate", async () => {
    const home = await temporaryHome();
    const set = (name: string, value: string) => clew(home, ["config", "set", name, value]);
    const model = await set("agents.defaults.model.primary", "lmstudo/tiny");
    expect(model).toMatchObject({ code: 0, errors: expect.stringContaining('mean "lmstudio"?') });
    const engine = await set("plugins.slots.contextEngine", "losless");
    expect(engine).toMatchObject({ code: 0, errors: expect.stringContaining('mean "lossless"?') });
    const program = await set("agents.defaults.harness", "codx");
    expect(program).toMatchObject({ code: 0, errors: expect.stringContaining('mean "codex"?') });
    const { code, output } = await clew(home, ["config", "validate"]);
    expect(code).toBe(0);
    expect(output).toMatch(
      /^warning: .*"lmstudo".*\nwarning: No context engine is called "losless".*\nwarning: .*"codx" \(agent "main"\).*\n\S+ is right, with 3 warnings\.$/,
    );
  });

  it("warns of nothing that is there, or that a setting or a plugin brings", async () => {
    const home = await temporaryHome();
    const tide = writePlugin(join(home, "sources/tide"), { id: "tide" });
    for (const [name, value] of [
      ["agents.defaults.model.primary", "anthropic/claude-opus-4-6"],
      ["models.providers.house.baseUrl", "http://127.0.0.1:1/v1"],
      ["agents.defaults.model.primary", "house/tiny"],
      ["plugins.load.paths", JSON.stringify([tide])],
      ["plugins.slots.contextEngine", "tide"],
      ["plugins.slots.contextEngine", "lossless"],
      ["plugins.slots.contextEngine", "none"],
    ] as const)
      expect(await clew(home, ["config", "set", name, value])).toMatchObject({ errors: "" });
    expect((await clew(home, ["config", "validate"])).output).toMatch(/^\S+ is right\.$/);
  });
});

describe("clew config set of a plugin's own setting", () => {
  const configSchema = {
    type: "object",
    additionalProperties: false,
    required: ["place", "key"],
    properties: {
      n: { type: "integer", default: 1 },
      place: { type: "string" },
      key: { type: "string" },
    },
  };

  async function withPlugin() {
    const home = await temporaryHome();
    const folder = writePlugin(join(home, "sources/tide"), {
      id: "tide",
      manifest: { configSchema },
    });
    await writeFile(
      join(home, "clew.json"),
      JSON.stringify({ plugins: { load: { paths: [folder] } } }),
    );
    const set = (name: string, value: string) =>
      clew(home, ["config", "set", `plugins.entries.tide.config${name}`, value]);
    return { home, set };
  }

  it("asks the schema that the plugin brings, and changes nothing that it does not take", async () => {
    const { home, set } = await withPlugin();
    const before = await readFile(join(home, "clew.json"), "utf8");
    const refused = async (name: string, value: string, why: string) =>
      expect(await set(name, value)).toMatchObject({
        code: 1,
        errors: expect.stringContaining(`clew.json: plugin "tide" does not take it: ${why}`),
      });
    await refused(".n", "seven", "n must be integer. [CONFIG_INVALID]");
    await refused(".zzz", "1", 'must NOT have additional properties: "zzz". [CONFIG_INVALID]');
    await refused("", "{ n: 1.5 }", "n must be integer");
    expect(await readFile(join(home, "clew.json"), "utf8")).toBe(before);
    const lossless = await clew(home, [
      ...["config", "set", "plugins.entries.lossless.config.sumaries", "code"],
    ]);
    expect(lossless).toMatchObject({ code: 1, errors: expect.stringContaining('"sumaries"') });
  });

  it("lets what it needs come one by one, and says what is missing yet", async () => {
    const { home, set } = await withPlugin();
    expect(await set(".place", "5")).toMatchObject({
      code: 0,
      output: expect.stringContaining('place = "5"'),
      errors: "warning: plugin \"tide\" stays off: must have required property 'key'.",
    });
    expect(await set(".key", "k")).toMatchObject({ code: 0, errors: "" });
    const file = join(home, "clew.json");
    await writeFile(file, (await readFile(file, "utf8")).replace('"k"', '"k", "n": "six"'));
    expect(await set(".n", "seven")).toMatchObject({
      code: 1,
      errors: expect.stringContaining("n must be integer"),
    });
    expect((await set(".place", "here")).errors).toContain('"tide" stays off: n must be integer');
    expect(await set(".n", "7")).toMatchObject({ code: 0, errors: "" });
  });
});

describe("clew config set of what cannot hold", () => {
  const section = "agents.defaults.compaction";

  it("says that nothing was changed, and why", async () => {
    const home = await temporaryHome();
    const refused = await clew(home, ["config", "set", `${section}.highWaterTokens`, "-3"]);
    expect([refused.code, refused.errors]).toEqual([
      1,
      expect.stringMatching(
        /highWaterTokens was not changed in .*: must be more than 0.*\(given: -3\)/s,
      ),
    ]);
  });

  it("refuses a low mark that is not below the high one, and lets a wrong pair be mended", async () => {
    const home = await temporaryHome();
    const set = (name: string, value: string) =>
      clew(home, ["config", "set", `${section}.${name}`, value]);
    expect((await set("highWaterTokens", "8000")).code).toBe(0);
    const refused = await set("lowWaterTokens", "9000");
    expect([refused.code, refused.errors]).toEqual([
      1,
      expect.stringContaining("lowWaterTokens (9,000) must be below highWaterTokens (8,000)"),
    ]);
    expect((await set('models["house/m"].lowWaterTokens', "8000")).code).toBe(1);
    const pair = { highWaterTokens: 1000, lowWaterTokens: 5000 };
    const config = { agents: { defaults: { compaction: pair } } };
    await writeFile(join(home, "clew.json"), JSON.stringify(config));
    expect((await clew(home, ["doctor"])).output).toContain(
      "lowWaterTokens (5,000) must be below highWaterTokens (1,000); the low one is ignored",
    );
    expect((await set("prune", "false")).code).toBe(0);
    expect((await set("lowWaterTokens", "500")).code).toBe(0);
  });

  it("parts no model's name at the dot of its version, and says how to write it", async () => {
    const home = await temporaryHome();
    const set = (name: string) => clew(home, ["config", "set", name, "60000"]);
    const refused = await set(`${section}.models.openai/gpt-5.5.highWaterTokens`);
    const brackets = `${section}.models["openai/gpt-5.5"].highWaterTokens`;
    expect([refused.code, refused.errors]).toEqual([1, expect.stringContaining(`'${brackets}'`)]);
    expect((await set(brackets)).code).toBe(0);
    expect((await set(`${section}.models.openai/gpt-5.highWaterTokens`)).code).toBe(0);
  });

  it("warns that a key changes nothing", async () => {
    const home = await temporaryHome();
    const { code, errors } = await clew(home, ["config", "set", `${section}.notifyUser`, "true"]);
    expect([code, errors]).toEqual([0, expect.stringContaining("notifyUser changes nothing:")]);
  });
});

describe("clew doctor", () => {
  it("tells of marks that the model's window does not allow, and of models that have no such name", async () => {
    const home = await temporaryHome();
    const compaction = { highWaterTokens: 300_000, models: { m: { lowWaterTokens: 1000 } } };
    const config = (more: object) =>
      writeFile(
        join(home, "clew.json"),
        JSON.stringify({ agents: { defaults: { compaction: { ...compaction, ...more } } } }),
      );
    await config({});
    const { output } = await clew(home, ["doctor"]);
    expect(output).toContain("(300,000) is more than offline/offline leaves room for; 171,000");
    expect(output).toContain('models["m"] changes nothing: "m" is not a model name');
    await config({ lowWaterTokens: 200_000 });
    expect((await clew(home, ["doctor"])).output).toContain(
      "lowWaterTokens (200,000) is not below the high mark of offline/offline (171,000)",
    );
  });

  it("says who writes summaries, and that nobody does where the offline model answers", async () => {
    const home = await temporaryHome();
    const said = async () => (await clew(home, ["doctor"])).output;
    expect(await said()).toContain("code lists and quotes what is left out, no model is asked");
    await clew(home, ["config", "set", "agents.defaults.compaction.model", "offline/offline"]);
    expect(await said()).toContain("offline/offline summarises");
  });

  it("says that an engine which owns compaction does it, and when the host does all the same", async () => {
    const home = await temporaryHome();
    await clew(home, ["plugins", "enable", "lossless"]);
    expect((await clew(home, ["doctor"])).output).toMatch(
      /compaction: +"lossless" compacts for itself; where it fails, or leaves a session to the host: older history/,
    );
  });
});

describe("clew config unset", () => {
  const CONFIG = `{
  // mine
  gateway: { port: 18791 },
  plugins: { entries: { small: { isolation: "process", enabled: true } } }, // theirs
}
`;

  it("removes one setting and leaves the rest of the file", async () => {
    const home = await temporaryHome();
    const file = join(home, "clew.json");
    await writeFile(file, CONFIG);
    const unset = (name: string) => clew(home, ["config", "unset", name]);
    const name = "plugins.entries.small.isolation";
    expect(await unset(name)).toEqual({
      ...{ code: 0, errors: "" },
      output: `${name} is removed   (${file}; a running gateway reads it at its next start, or by: clew plugins reload)`,
    });
    expect(await readFile(file, "utf8")).toBe(CONFIG.replace(' isolation: "process",', ""));
    expect((await unset(name)).output).toContain("was not set in");
    expect((await unset("gateway..")).errors).toContain("is not a setting");
  });

  it("writes nothing when what is left would be wrong", async () => {
    const home = await temporaryHome();
    const file = join(home, "clew.json");
    const config = JSON.stringify({ agents: { list: [{ id: "coder" }] } });
    await writeFile(file, config);
    expect((await clew(home, ["config", "unset", "agents.list[0].id"])).errors).toMatch(
      /agents\.list\[0\]\.id was not changed in .*, which would then be wrong:/,
    );
    expect(await readFile(file, "utf8")).toBe(config);
  });
});
