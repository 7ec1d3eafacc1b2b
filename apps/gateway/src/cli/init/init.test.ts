import { once } from "node:events";
import { readFile, stat } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import JSON5 from "json5";
import { describe, expect, it, onTestFinished } from "vitest";
import { clew, startClew } from "../../testing/command.ts";
import { temporaryHome } from "../../testing/home.ts";
import { modelChoices, nameServer, readKey, readModel } from "./questions.ts";

/** Stands for a model server; with `key`, it refuses every other one, also for its list or not. */
async function modelServer(
  models: readonly string[],
  key?: string,
  { listsToAll = false } = {},
): Promise<string> {
  const server = createServer((request, response) => {
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
    ["http://", { problem: expect.stringContaining("is no address") }],
  ])("%j chooses a model or says what would", (typed, expected) => {
    expect(readModel(typed, choices)).toEqual(expected);
  });

  it("a server of one's own gets a name that is free, or that of the program it is known by", () => {
    expect(nameServer("http://house:1/v1", [])).toBe("own");
    expect(nameServer("http://house:1/v1", ["own"])).toBe("own-2");
    expect(nameServer("http://127.0.0.1:11434/v1", [])).toBe("ollama");
  });

  it("a key is a variable or a command", () => {
    expect(readKey(" $MY_KEY ")).toEqual({ variable: "MY_KEY" });
    expect(readKey("op read op://private/key")).toEqual({ command: "op read op://private/key" });
  });
});
