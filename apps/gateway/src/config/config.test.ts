// biome-ignore-all lint/suspicious/noTemplateCurlyInString: settings name variables of the environment that way.
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import JSON5 from "json5";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { getSetting, setSetting } from "./commands.ts";
import { configTable } from "./docs.ts";
import { setInText } from "./edit.ts";
import { expandVariables, readEnvironment } from "./environment.ts";
import { planImport } from "./import.ts";
import { checkConfigText, loadConfig } from "./load.ts";
import { parseSettingPath } from "./path.ts";
import { configJsonSchema } from "./schema.ts";

const check = (value: unknown) => checkConfigText(JSON.stringify(value), "clew.json");

describe("the configuration", () => {
  it("has a default for everything a gateway needs", async () => {
    const { config, exists } = await loadConfig(join(await temporaryHome(), "clew.json"));
    expect(exists).toBe(false);
    expect(config.agents.defaults.model.primary).toBe("offline/offline");
    expect(config.agents.defaults.compaction.timeoutSeconds).toBe(180);
    expect(config.gateway).toMatchObject({ port: 18790, bind: "loopback" });
  });

  it("takes a model by its name alone", () => {
    expect(
      check({ agents: { defaults: { model: "ollama/qwen3:8b" } } }).config.agents.defaults.model,
    ).toEqual({
      primary: "ollama/qwen3:8b",
    });
  });

  it("lists every problem with its path in one error", () => {
    const wrong = {
      gateway: { port: "high", bind: "wan" },
      agents: { defaults: { timeoutSeconds: -1, model: "nonsense" }, list: [{ id: "../x" }] },
      models: { providers: { local: { baseUrl: "ftp://x", apiKey: 5 } } },
    };
    expect(() => check(wrong)).toThrow(
      expect.objectContaining({
        code: "CONFIG_INVALID",
        message: expect.stringContaining("clew.json has 7 problems"),
      }),
    );
    const paths = [
      "gateway.port",
      "gateway.bind",
      "agents.defaults.timeoutSeconds",
      "agents.defaults.model",
      "agents.list[0].id",
      "models.providers.local.baseUrl",
      "models.providers.local.apiKey",
    ];
    for (const path of paths) expect(() => check(wrong)).toThrow(`${path}: `);
  });

  it("says where a file stops being JSON5", () => {
    expect(() => checkConfigText("{\n  gateway: { port: }\n}", "/x/clew.json")).toThrow(
      /not JSON5: invalid character '}' at line 2, column 20/,
    );
    const unquoted = '{\n  session: {\n    mainKey: "main,\n  },\n}';
    expect(() => checkConfigText(unquoted, "/x/clew.json")).toThrow(
      /begins at line 3 does not end there; a quote is missing in that line/,
    );
    expect(() => checkConfigText("[1]", "/x/clew.json")).toThrow(/one object/);
  });

  it("never shows a key in a problem", () => {
    const wrong = {
      models: {
        providers: {
          a: { baseUrl: "nowhere", headers: { authorization: 7 } },
          b: { apiKey: 12345678 },
        },
      },
    };
    expect(() => check(wrong)).toThrow(/headers/);
    expect(() => check(wrong)).not.toThrow(/12345678/);
  });

  it("refuses headers that no request can carry, and shows no value of one", () => {
    const headersOf = {
      "diagnostics.otel": (headers: object) => ({ diagnostics: { otel: { headers } } }),
      "models.providers.a": (headers: object) => ({ models: { providers: { a: { headers } } } }),
      "mcp.servers.a": (headers: object) => ({
        mcp: { servers: { a: { url: "http://127.0.0.1:9/", headers } } },
      }),
    };
    for (const [place, given] of Object.entries(headersOf)) {
      expect(() => check(given({ "x-key": "hunter2", y: "${TOKEN}" }))).not.toThrow();
      const name = () => check(given({ "bad name": "hunter2" }));
      expect(name).toThrow(`${place}.headers.bad name: is no name of a header`);
      const value = () => check(given({ "x-key": "hunter2\nx: y" }));
      expect(value).toThrow(`${place}.headers.x-key: holds a character that no header can carry`);
      for (const refused of [name, value]) expect(refused).not.toThrow(/hunter2/);
    }
  });

  it.each([
    ["baseUrl", { baseUrl: "http://user:hunter2@127.0.0.1:4199/v1" }],
    ["baseUrl", { baseUrl: "http://127.0.0.1:4199/v1?key=hunter2" }],
    ["google.tokenEndpoint", { google: { tokenEndpoint: "http://me:hunter2@127.0.0.1/" } }],
    ["aws.ssoEndpoint", { aws: { ssoEndpoint: "http://me:hunter2@127.0.0.1/" } }],
  ])("refuses a secret in the address %s, and says where it belongs", (name, house) => {
    const refused = () => check({ models: { providers: { house } } });
    expect(refused).toThrow(
      `models.providers.house.${name}: The address holds a key or a password, which would be shown wherever the address is; take it out, and put it into apiKey, the environment or headers.`,
    );
    expect(refused).not.toThrow(/hunter2/);
  });

  it("takes an address with a query that is no secret", () => {
    const house = { baseUrl: "https://x.openai.azure.com/openai/v1?api-version=preview" };
    expect(check({ models: { providers: { house } } }).warnings).toEqual([]);
  });

  it("warns about unknown keys with the nearest known one", () => {
    const { warnings } = check({
      agents: { defaults: { worksapce: "x", historyLimit: 3 } },
      plugins: { slot: {}, entries: { mine: { enabled: true, llm: {}, config: { anything: 1 } } } },
      channels: {},
    });
    expect(warnings).toEqual([
      "agents.defaults.worksapce: Clew has no such setting; did you mean agents.defaults.workspace?",
      "agents.defaults.historyLimit: Clew has no such setting; did you mean session.historyLimit?",
      "plugins.slot: Clew has no such setting; did you mean plugins.slots?",
      "channels: Clew has no such setting; it is ignored.",
    ]);
  });

  it("warns about every unknown key of compaction, but for those told to change nothing", () => {
    const compaction = {
      hihgWater: 1,
      bogus: 1,
      memoryFlush: {},
      qualityGuard: { strict: true },
      models: { "house/m": { highWaterTokens: 9_000, nope: 1 } },
    };
    const section = "agents.defaults.compaction";
    expect(check({ agents: { defaults: { compaction } } }).warnings).toEqual([
      `${section}.hihgWater: Clew has no such setting; it is ignored.`,
      `${section}.bogus: Clew has no such setting; it is ignored.`,
      `${section}.qualityGuard.strict: Clew has no such setting; it is ignored.`,
      `${section}.models.house/m.nope: Clew has no such setting; it is ignored.`,
    ]);
  });

  it("says of every setting what it means", () => {
    const silent = configTable()
      .split("\n")
      .filter((row) => / \| {2}\|$/.test(row));
    expect(silent).toEqual([]);
  });

  it("is documented from the schema", () => {
    const table = configTable();
    expect(table).toContain("| `gateway.port` | integer | `18790` |");
    expect(table).toContain("`models.providers.<id>.models[].contextWindow`");
    expect(configJsonSchema()).toMatchObject({
      type: "object",
      properties: { gateway: { properties: { port: { default: 18790 } } } },
    });
  });
});

describe("a configuration file that is a folder", () => {
  it("is told as what cannot be read, with the next step", async () => {
    await expect(loadConfig(await temporaryHome())).rejects.toMatchObject({
      code: "STORAGE_FAILED",
      message: expect.stringMatching(
        /cannot be read: it is a folder; name a file and try again\.$/,
      ),
    });
  });
});

describe("the environment", () => {
  it("names the home, the file and the keys", () => {
    const environment = readEnvironment({
      CLEW_HOME: "/h",
      OPENAI_API_KEY: "k",
      MY_LAB_API_KEY: "lab",
      GEMINI_API_KEY: " ",
    });
    expect(environment).toMatchObject({ home: "/h", configFile: "/h/clew.json" });
    expect(environment.providerKey("openai")).toBe("k");
    expect(environment.providerKey("my-lab")).toBe("lab");
    expect(environment.providerKey("google")).toBeUndefined();
    expect(readEnvironment({ CLEW_HOME: "/h", CLEW_CONFIG: "/c.json" }).configFile).toBe("/c.json");
  });

  it("fills in variables or says which are missing", () => {
    const environment = readEnvironment({ A: "1" });
    expect(expandVariables("x-${A}", environment)).toEqual({ text: "x-1" });
    expect(expandVariables("${A}${B}", environment)).toEqual({ missing: ["B"] });
  });
});

const COMMENTED = `// my settings
{
  // who answers
  agents: {
    defaults: { workspace: 'x', /* keep */ model: { primary: "a/b" }, }, // one line
  }, // agents
  'plugins': {
    slots: { contextEngine: "lossless" }, // why
    load: { paths: [ "one", ] },
  },
  models: {}, // none yet
  hex: 0xff, plus: +1, half: .5
}
// the end
`;

describe("setting one value", () => {
  it("changes that value and no other byte", () => {
    expect(setInText(COMMENTED, ["plugins", "slots", "contextEngine"], "legacy")).toBe(
      COMMENTED.replace('"lossless"', '"legacy"'),
    );
    expect(setInText(COMMENTED, ["agents", "defaults", "model", "primary"], "c/d")).toBe(
      COMMENTED.replace('"a/b"', '"c/d"'),
    );
  });

  it("adds a value in the style of its neighbours", () => {
    expect(setInText(COMMENTED, ["agents", "defaults", "timeoutSeconds"], 5)).toContain(
      'model: { primary: "a/b" }, timeoutSeconds: 5, }, // one line',
    );
    expect(setInText(COMMENTED, ["plugins", "enabled"], true)).toContain(
      '    load: { paths: [ "one", ] },\n    enabled: true,\n  },\n',
    );
    expect(setInText(COMMENTED, ["gateway", "port"], 1)).toContain(
      "half: .5,\n  gateway: {\n    port: 1,\n  }\n}\n// the end",
    );
    expect(setInText(COMMENTED, ["models", "providers", "x-y", "apiKey"], "k")).toContain(
      'models: {\n    providers: {\n      "x-y": {\n        apiKey: "k",\n      },\n    },\n  }, // none yet',
    );
    expect(setInText('{ "a": 1 }', ["b"], "c")).toBe('{ "a": 1, "b": "c" }');
    expect(setInText("", ["a"], 1)).toBe("{\n  a: 1,\n}\n");
    expect(setInText("{\n  a: 1, // about a\n  // to do\n}", ["b"], 2)).toBe(
      "{\n  a: 1, // about a\n  b: 2,\n  // to do\n}",
    );
    expect(setInText("{ // why\n}", ["b"], 2)).toBe("{ // why\n  b: 2,\n}");
    expect(setInText("{a: [1]}", ["a", 1], 2)).toBe("{a: [1, 2]}");
  });

  it("always means what was asked, whatever the file", () => {
    const key = fc.constantFrom("a", "b", "c-d", "e f", "ü");
    const tree = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 3 },
        fc.jsonValue({ maxDepth: 0 }),
        fc.dictionary(key, tie("node"), { maxKeys: 3 }),
      ),
    })).node;
    const object = fc.dictionary(key, tree, { maxKeys: 4 });
    fc.assert(
      fc.property(
        object,
        fc.array(key, { minLength: 1, maxLength: 4 }),
        fc.jsonValue({ maxDepth: 2 }),
        fc.boolean(),
        fc.constantFrom(0, 2),
        (root, path, value, json5, space) => {
          const text = json5
            ? `// c\n${JSON5.stringify(root, null, space)} /* d */`
            : JSON.stringify(root, null, space);
          let edited: string;
          try {
            edited = setInText(text, path, value);
          } catch (error) {
            expect((error as Error).message).toMatch(/is not an object|is a list/);
            return;
          }
          let found: unknown = JSON5.parse(edited);
          for (const part of path) found = (found as Record<string, unknown>)[part];
          expect(JSON.stringify(found)).toBe(JSON.stringify(value));
          if (json5) expect(edited).toMatch(/^\/\/ c\n.*\/\* d \*\/$/s);
        },
      ),
    );
  });

  it("is written atomically, checked first, private, and reads back", async () => {
    const file = join(await temporaryHome(), "deep", "clew.json");
    expect(
      await setSetting(file, "agents.defaults.model.primary", "ollama/qwen3:8b"),
    ).toMatchObject({
      value: "ollama/qwen3:8b",
      warnings: [],
    });
    await setSetting(file, "gateway.port", "0");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await getSetting(file, "gateway.port")).toEqual({ value: 0, isSet: true });
    expect(await getSetting(file, "session.mainKey")).toEqual({ value: "main", isSet: false });
    const before = await readFile(file, "utf8");
    await expect(setSetting(file, "gateway.port", "many")).rejects.toMatchObject({
      code: "CONFIG_INVALID",
    });
    await expect(setSetting(file, "gateway..port", "1")).rejects.toThrow(/is not a setting/);
    await expect(
      setSetting(join(file, "below/clew.json"), "gateway.port", "1"),
    ).rejects.toMatchObject({
      code: "STORAGE_FAILED",
      message: expect.stringContaining("a part of the path is not a folder"),
    });
    expect(await readFile(file, "utf8")).toBe(before);
  });

  it("takes a number as text where text is meant, and warns about a name it does not know", async () => {
    const file = join(await temporaryHome(), "clew.json");
    expect((await setSetting(file, "session.mainKey", "42")).value).toBe("42");
    expect(
      (await setSetting(file, "agents.defaults.worksapce", "x", { force: true })).warnings[0],
    ).toContain("did you mean agents.defaults.workspace");
    await expect(getSetting(file, "gateway.prot")).rejects.toThrow(/did you mean gateway.port/);
  });

  it("hides keys when it shows settings", async () => {
    const file = join(await temporaryHome(), "clew.json");
    await writeFile(
      file,
      "{models: {providers: {a: {apiKey: 'sk-1'}, b: {apiKey: '${B}', headers: {x: 'sk-2'}}}}}",
    );
    const shown = JSON.stringify([
      await getSetting(file, ""),
      await getSetting(file, "models.providers.a.apiKey"),
      await getSetting(file, "models"),
    ]);
    expect(shown).not.toMatch(/sk-/);
    expect(shown).toContain("${B}");
  });
});

describe("the name of a setting", () => {
  it("is dotted, with brackets for odd keys and list items", () => {
    expect(parseSettingPath('plugins.entries["a.b"].x[2]')).toEqual([
      "plugins",
      "entries",
      "a.b",
      "x",
      2,
    ]);
    for (const bad of ["", ".", "a..b", "a.", "a[x]", "__proto__.x", "a b"])
      expect(parseSettingPath(bad)).toBeNull();
  });
});

describe("an import", () => {
  it("takes what both programs have and lists the rest", () => {
    const text = `{
      // OpenClaw
      agents: { defaults: { model: { primary: "anthropic/claude", fallbacks: ["openai/gpt", "sonnet"] }, heartbeat: { every: "30m" }, compaction: { mode: "safeguard" } } },
      channels: { telegram: { botToken: "t" } },
      gateway: { port: 18789, bind: "lan", auth: { token: "x" } },
      models: { providers: { lab: { baseUrl: "http://10.0.0.1/v1", apiKey: { source: "env" }, models: [{ id: "m", contextWindow: 8000 }, { name: "no id" }] } } },
      plugins: { slots: { contextEngine: "lossless-claw" }, entries: { "lossless-claw": { enabled: true, config: { a: 1 } } } },
    }`;
    const plan = planImport(text, "openclaw.json");
    expect(plan.config).toEqual({
      agents: {
        defaults: {
          model: { primary: "anthropic/claude", fallbacks: ["openai/gpt"] },
          compaction: { mode: "safeguard" },
        },
      },
      models: {
        providers: {
          lab: { baseUrl: "http://10.0.0.1/v1", models: [{ id: "m", contextWindow: 8000 }] },
        },
      },
      plugins: {
        slots: { contextEngine: "lossless-claw" },
        entries: { "lossless-claw": { enabled: true, config: { a: 1 } } },
      },
    });
    expect(plan.ignored.map(({ path }) => path).sort()).toEqual([
      "agents.defaults.heartbeat",
      "agents.defaults.model.fallbacks[1]",
      "channels",
      "gateway.auth.token",
      "gateway.bind",
      "gateway.port",
      "models.providers.lab.apiKey",
      "models.providers.lab.models[1].id",
    ]);
    expect(checkConfigText(JSON.stringify(plan.config), "x").warnings).toEqual([]);
  });

  it("knows the older section name of clawdbot.json", () => {
    const plan = planImport(
      '{ "agent": { "model": "anthropic/claude", "workspace": "~/w" } }',
      "clawdbot.json",
    );
    expect(plan.config).toEqual({
      agents: { defaults: { model: "anthropic/claude", workspace: "~/w" } },
    });
  });

  it("leaves out what it says it leaves out, under a name with dots too", () => {
    const models = { "openai/gpt-5.5": { alias: "gpt", params: { temperature: 0.5 } } };
    const plan = planImport(JSON.stringify({ agents: { defaults: { models } } }), "openclaw.json");
    expect(plan.ignored.map(({ path }) => path)).toEqual([
      "agents.defaults.models.openai/gpt-5.5.alias",
    ]);
    expect(JSON.stringify(plan.config)).not.toContain("alias");
    expect(JSON.stringify(plan.config)).toContain("openai/gpt-5.5");
  });
});
