import { once } from "node:events";
import { readFile, stat } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import JSON5 from "json5";
import { describe, expect, it, onTestFinished } from "vitest";
import { clew, startClew } from "../../testing/command.ts";
import { temporaryHome } from "../../testing/home.ts";
import { modelChoices, nameServer, readEngine, readKey, readModel } from "./questions.ts";

/**
 * Stands for a model server; with `key`, it refuses every other one, also for its list or not.
 * `isEmpty`: it has none of the models that it lists.
 */
async function modelServer(
  models: readonly string[],
  key?: string,
  { listsToAll = false, isEmpty = false } = {},
): Promise<string> {
  const server = createServer((request, response) => {
    if (request.url?.startsWith("/v1/") !== true || (isEmpty && request.method === "POST")) {
      response.writeHead(404, { "content-type": "application/json" });
      return response.end('{"error":{"message":"There is no such thing"}}');
    }
    const isList = request.url?.endsWith("/models") === true;
    const isWrong = key !== undefined && request.headers.authorization !== `Bearer ${key}`;
    const isRefused = isWrong && !(isList && listsToAll);
    const type = isList || isRefused ? "application/json" : "text/event-stream";
    response.writeHead(isRefused ? 401 : 200, { "content-type": type });
    if (isRefused) response.end('{"error":{"message":"Incorrect API key provided"}}');
    else if (isList) response.end(JSON.stringify({ data: models.map((id) => ({ id })) }));
    else
      response.end(
        'data: {"choices":[{"index":0,"delta":{"content":"Hello."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
      );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

/** Answers are typed line by line; then the input is over. */
async function answered(
  home: string,
  argv: readonly string[],
  lines: readonly string[],
  env: NodeJS.ProcessEnv = {},
) {
  const child = startClew(home, ["init", ...argv], { fromSource: true, env });
  child.process.stdin!.end(lines.map((line) => `${line}\n`).join(""));
  const code = await child.exit;
  return { code, output: child.lines.join("\n"), errors: child.errors() };
}

const settingsOf = async (home: string) =>
  JSON5.parse(await readFile(join(home, "clew.json"), "utf8"));

describe("clew init", () => {
  it("finds Ollama and LM Studio, and writes commented settings that work", async () => {
    const home = await temporaryHome();
    const ollama = await modelServer(["qwen3:8b", "llama4:70b"]);
    const lmstudio = await modelServer(["gemma-4"]);
    const places = ["--look-at", `ollama=${ollama}`, `lmstudio=${lmstudio}`];
    const { code, output, errors } = await answered(home, places, ["9", "2", ""]);
    expect(errors).toContain(`2) ollama/llama4:70b (on this machine, ${ollama})`);
    expect(errors).toContain(`3) lmstudio/gemma-4 (on this machine, ${lmstudio})`);
    expect(errors).toContain("There is no 9 in the list.");
    expect([code, output]).toEqual([
      0,
      expect.stringContaining("ollama/llama4:70b answered a question"),
    ]);
    expect(await settingsOf(home)).toMatchObject({
      agents: { defaults: { model: { primary: "ollama/llama4:70b", fallbacks: [] } } },
      models: { providers: { ollama: { baseUrl: ollama } } },
      plugins: { slots: { contextEngine: "lossless" } },
    });
    const file = join(home, "clew.json");
    expect((await readFile(file, "utf8")).match(/^ *\/\//gm)!.length).toBeGreaterThan(5);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await clew(home, ["config", "validate"])).code).toBe(0);
  });

  it("tests the key, and says when it is refused", async () => {
    const home = await temporaryHome();
    const address = await modelServer(["large"], "right");
    const place = ["--look-at", `openrouter=${address}`, "--force"];
    const argv = ["init", "--model", "openrouter/large", "--engine", "legacy", ...place];
    const wrong = await clew(home, argv, { OPENROUTER_API_KEY: "wrong" });
    expect([wrong.code, wrong.output]).toEqual([1, expect.stringContaining("refuses the key")]);
    const right = await clew(home, argv, { OPENROUTER_API_KEY: "right" });
    expect([right.code, right.output]).toEqual([0, expect.stringContaining(`${address} answers`)]);
    expect(await readFile(join(home, "clew.json"), "utf8")).not.toMatch(/wrong|right/);
  });

  it("offers the models of a server that --look-at names, under that name", async () => {
    const home = await temporaryHome();
    const house = await modelServer(["tiny"]);
    // The second answer is to the question for a key.
    const { code, output, errors } = await answered(
      home,
      ["--look-at", `house=${house}`],
      ["house/tiny", "", "n"],
    );
    expect(errors).toContain(`house/tiny (on this machine, ${house})`);
    expect([code, output]).toEqual([0, expect.stringContaining("house/tiny answered a question")]);
    expect(await settingsOf(home)).toMatchObject({
      agents: { defaults: { model: { primary: "house/tiny", fallbacks: [] } } },
      models: { providers: { house: { baseUrl: house } } },
    });
    const argv = ["init", "--look-at", `house=${house}`, "--model", "house/tiny", "--engine"];
    expect((await clew(home, [...argv, "legacy", "--force"])).code).toBe(0);
  });

  it("takes a typed address for a server of one's own, and asks for its key and model", async () => {
    const home = await temporaryHome();
    const address = await modelServer(["small", "tiny"], "right");
    const lines = [`${address}/`, "HOUSE_KEY", "9", "2", "n"];
    const { code, output, errors } = await answered(home, [], lines, { HOUSE_KEY: "right" });
    expect(errors).toMatch(/Does own want a key\?.*1\) small.*2\) tiny.*There is no 9/s);
    expect([code, output]).toEqual([0, expect.stringContaining("own/tiny answered a question")]);
    expect(await settingsOf(home)).toMatchObject({
      agents: { defaults: { model: { primary: "own/tiny" } } },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a setting names a variable so.
      models: { providers: { own: { baseUrl: address, apiKey: "${HOUSE_KEY}" } } },
    });
    expect(errors + output).not.toContain("right");
  });

  it("takes no key where a variable or a command is asked for: it is not run, stored or told", async () => {
    const home = await temporaryHome();
    const address = await modelServer(["tiny"], "right");
    const key = "sk-proj-Abcdefghijklmnop1234567890ABCDEFGHijklmn";
    const lines = [address, key, `export OWN_API_KEY=${key}`, "HOUSE_KEY", "1", "n"];
    const { code, output, errors } = await answered(home, [], lines, { HOUSE_KEY: "right" });
    expect(errors.match(/That looks like a key itself; .*export OWN_API_KEY=…/g)).toHaveLength(2);
    expect([code, output]).toEqual([0, expect.stringContaining("own/tiny answered a question")]);
    const written = await readFile(join(home, "clew.json"), "utf8");
    for (const text of [errors, output, written]) expect(text).not.toContain(key.slice(0, 12));
    expect(written).not.toContain("apiKeyCommand");
  });

  it("asks at once for another key where one is refused or does not come", async () => {
    const home = await temporaryHome();
    const address = await modelServer(["small", "tiny"], "right");
    const lines = [address, "", "HOUSE_KEY", "no-such-program-x --key", "NEW_KEY", "2", "n"];
    const env = { HOUSE_KEY: "wrong", NEW_KEY: "right" };
    const { code, output, errors } = await answered(home, [], lines, env);
    expect(errors).toContain(`${address} wants a key (HTTP 401).`);
    expect(errors).toContain(`${address} refuses the key in HOUSE_KEY (HTTP 401).`);
    expect(errors).toMatch(/No key came: the command "no-such-program-x" ended with exit code/);
    expect(errors).not.toContain("No list of its models");
    expect([code, output]).toEqual([0, expect.stringContaining("own/tiny answered a question")]);
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a setting names a variable so.
    expect((await settingsOf(home)).models.providers.own.apiKey).toBe("${NEW_KEY}");
  });

  it("goes on with a refused key only where that is meant, and fails then", async () => {
    const home = await temporaryHome();
    const address = await modelServer(["tiny"], "right");
    const lines = [address, "HOUSE_KEY", "", "tiny", "n"];
    const { code, output, errors } = await answered(home, [], lines, { HOUSE_KEY: "wrong" });
    expect(errors).toContain("No list of its models came; type the name of one.");
    expect([code, output]).toEqual([1, expect.stringContaining("refuses the key")]);
  });

  it("finds the /v1 that an address lacks, and asks again where nobody answers", async () => {
    const home = await temporaryHome();
    const address = await modelServer(["tiny"]);
    const bare = address.slice("http://".length, -"/v1".length);
    const lines = ["127.0.0.1:1/v1", "nonsense", bare, "", "1", "sk-wrong", "n"];
    const { code, output, errors } = await answered(home, [], lines);
    expect(errors).toContain("Nothing answers at http://127.0.0.1:1/v1.");
    expect(errors).toContain("An address looks like http://HOST:PORT/v1.");
    expect(errors).toContain(`http://${bare} lists no models and ${address} does`);
    expect(errors).toContain("Type y for lossless or n for legacy.");
    expect([code, output]).toEqual([0, expect.stringContaining("model own/tiny, engine legacy.")]);
    expect((await settingsOf(home)).models.providers.own.baseUrl).toBe(address);
    const argv = ["init", "--look-at", `house=${bare}`, "--model", "house/tiny", "--force"];
    const flagged = await clew(home, [...argv, "--engine", "lossless"]);
    expect([flagged.code, flagged.errors]).toEqual([
      0,
      expect.stringContaining(`${address} does; that address is taken.`),
    ]);
    expect((await settingsOf(home)).models.providers.house.baseUrl).toBe(address);
  });

  it("does not say that a server answers where it refuses the question", async () => {
    const home = await temporaryHome();
    const address = await modelServer(["tiny-1"], undefined, { isEmpty: true });
    const argv = ["init", "--look-at", `house=${address}`, "--model", "house/tiny-9"];
    const { code, output } = await clew(home, [...argv, "--engine", "legacy"]);
    expect([code, output]).toEqual([1, expect.stringContaining('Did you mean "house/tiny-1"?')]);
    expect(output).not.toMatch(/^ok:/m);
  });

  it("finds out that a server wants a key, though it lists its models to everybody", async () => {
    const home = await temporaryHome();
    const address = await modelServer(["tiny"], "right", { listsToAll: true });
    const argv = ["init", "--model", "lmstudio/tiny", "--engine", "legacy"];
    const { code, output } = await clew(home, [...argv, "--look-at", `lmstudio=${address}`]);
    expect(code).toBe(1);
    expect(output).toMatch(/wants a key and none is set: set LMSTUDIO_API_KEY.* 401/);
    expect(output).not.toContain("answered a question");
  });

  it("goes on with the offline model as long as a key is missing", async () => {
    const home = await temporaryHome();
    const argv = ["init", "--model", "anthropic/claude-opus-4-6", "--engine", "legacy"];
    const { code, output } = await clew(home, argv);
    expect([code, output]).toEqual([1, expect.stringContaining("ANTHROPIC_API_KEY")]);
    expect((await settingsOf(home)).agents.defaults.model).toEqual({
      primary: "anthropic/claude-opus-4-6",
      fallbacks: ["offline/offline"],
    });
    expect((await clew(home, ["chat", "hello"])).code).toBe(0);
  });

  it("replaces settings only when it is told to, and keeps them", async () => {
    const home = await temporaryHome();
    const argv = ["init", "--model", "offline/offline", "--engine", "lossless"];
    expect((await clew(home, argv)).code).toBe(0);
    const refused = await clew(home, argv);
    expect([refused.code, refused.errors]).toEqual([2, expect.stringContaining("--force")]);
    const { output } = await clew(home, [...argv, "--force", "--json"]);
    expect(JSON.parse(output)).toMatchObject({ model: "offline/offline", engine: "lossless" });
    expect(await readFile(join(home, "clew.json.bak"), "utf8")).toContain("offline/offline");
  });

  it("writes nothing where nobody answers", async () => {
    const home = await temporaryHome();
    const { code, errors } = await answered(home, [], []);
    expect([code, errors]).toEqual([2, expect.stringContaining("clew init --model ")]);
    await expect(stat(join(home, "clew.json"))).rejects.toThrow();
  });
});

describe("answers to the questions of clew init", () => {
  const choices = modelChoices(
    [{ provider: "ollama", baseUrl: "http://x/v1", models: ["a", "b"] }],
    [],
  );

  it.each([
    ["", { model: "ollama/a" }],
    ["2", { model: "ollama/b" }],
    ["3", { model: "offline/offline" }],
    ["anthropic/claude-opus-4-6", { model: "anthropic/claude-opus-4-6" }],
    ["antropic/x", { problem: expect.stringContaining('Did you mean "anthropic"?') }],
    ["claude", { problem: expect.stringContaining("Type a number") }],
    ["house/tiny", { problem: expect.stringContaining("--look-at house=ADDRESS") }],
    ["http://house:1234/v1/", { address: "http://house:1234/v1" }],
    ["localhost:18119", { address: "http://localhost:18119" }],
    ["127.0.0.1:18119/v1", { address: "http://127.0.0.1:18119/v1" }],
    ["localhost/v1/", { address: "http://localhost/v1" }],
    ["house:1234/v1", { address: "http://house:1234/v1" }],
    ["ollama/house:1234", { model: "ollama/house:1234" }],
    ["http://", { problem: expect.stringContaining("is no address") }],
  ])("%j chooses a model or says what would", (typed, expected) => {
    expect(readModel(typed, choices)).toEqual(expected);
  });

  it("a server of one's own gets a name that is free, or that of the program it is known by", () => {
    expect(nameServer("http://house:1/v1", [])).toBe("own");
    expect(nameServer("http://house:1/v1", ["own"])).toBe("own-2");
    expect(nameServer("http://127.0.0.1:11434/v1", [])).toBe("ollama");
  });

  const read = (typed: string, isKnown = false) =>
    readKey(typed, { isKnown, usual: "OWN_API_KEY" });

  it("a key is a variable or a command", () => {
    expect(read(" $MY_KEY ")).toEqual({ variable: "MY_KEY" });
    expect(read("op read op://private/key")).toEqual({ command: "op read op://private/key" });
    expect(read("./print-key-of-2024-for-house", true)).toHaveProperty("command");
    expect(read("a1b2c3d4e5f6a7b8c9d0", true)).toHaveProperty("variable");
  });

  it.each([
    ...["sk-right", "'gsk_1a2B3c4D5e6F7g8H'", "a1b2c3d4e5f6a7b8c9d0", "OWN_API_KEY=abc"],
    ...["Bearer sk-proj-Abc123", "echo sk-proj-Abcdefgh12345678"],
  ])("%j is the key itself, which nobody repeats", (typed) => {
    expect(read(typed)).toEqual({
      problem:
        "That looks like a key itself; put it into a variable, e.g. export OWN_API_KEY=…, and name that.",
    });
  });

  it.each([
    ["", "lossless"],
    [" Yes ", "lossless"],
    ["legacy", "legacy"],
    ["n", "legacy"],
    ["sk-wrong", undefined],
  ])("%j chooses an engine or none", (typed, engine) => {
    expect(readEngine(typed)).toBe(engine);
  });
});
