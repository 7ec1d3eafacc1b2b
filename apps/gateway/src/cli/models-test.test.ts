import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createEmulator, type EmulatorOptions } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { CHECKS } from "../deep-test/checks.ts";
import { likeModel } from "../deep-test/like-model.ts";
import type { CheckResult } from "../deep-test/run-checks.ts";
import { clew, startClew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";

const MODELS = [
  ["anthropic", "anthropic-messages", "claude-opus-4-6"],
  ["anthropic", "anthropic-messages", "claude-opus-5-5"],
  ["amazon-bedrock", "bedrock-converse-stream", "us.anthropic.claude-opus-5-5-v1:0"],
  ["google", "google-generative-ai", "gemini-3-pro-preview"],
  ["google-gemini-cli", "google-gemini-cli", "gemini-3-pro-preview"],
  ["deepseek", "openai-completions", "deepseek-reasoner", "deepseek"],
  ["openai", "openai-responses", "gpt-5.6"],
  ["openai", "openai-chatgpt-responses", "gpt-5.6-codex"],
  ["mistral", "mistral-conversations", "magistral-medium-latest", "user-after-tool"],
] as const;

/** A home whose model is served by an emulator that answers like one. */
async function served(
  [provider, api, id, flavor]: readonly [string, string, string, (string | undefined)?],
  options: EmulatorOptions = {},
) {
  const server = await createEmulator(api, {
    answers: likeModel,
    tolerant: true,
    models: [id],
    ...(flavor !== undefined && { flavor }),
    ...options,
  });
  onTestFinished(() => server.close());
  const home = await temporaryHome();
  const config = {
    agents: { defaults: { model: `${provider}/${id}` } },
    models: {
      providers: {
        [provider]: { api, baseUrl: server.baseUrl, apiKey: "key-for-tests", models: [{ id }] },
      },
    },
  };
  await writeFile(join(home, "clew.json"), JSON.stringify(config));
  return { server, home };
}

const test = async (home: string, ...args: string[]) => {
  const { code, output, errors } = await clew(home, ["models", "test", ...args]);
  return { code, output, errors };
};
const checksIn = (output: string) => (JSON.parse(output) as { checks: CheckResult[] }).checks;

describe("clew models test --deep", () => {
  it("has forty checks, each of its own name", () => {
    expect(new Set(CHECKS.map(({ id }) => id)).size).toBe(40);
  });

  it.each(MODELS)("finds no difference between two emulators of %s over %s: %s", async (...of) => {
    const { home, server } = await served(of);
    const { code, output, errors } = await test(home, "--deep", "--yes", "--json");
    const checks = checksIn(output);
    const told = checks.filter(({ state }) => state !== "same" && state !== "does-not-apply");
    expect(told).toEqual([]);
    expect(code).toBe(0);
    expect(checks).toHaveLength(40);
    expect(checks.some(({ provider }) => provider?.kind === "refused")).toBe(true);
    expect(server.requests.length).toBeGreaterThan(25);
    expect(errors).toMatch(/^\d+ calls of .*, at most [\d,]+ tokens in and [\d,]+ out: /);
    expect(errors).toContain("40/40 prefill: ");
    expect(output + errors).not.toContain("key-for-tests");
  });

  it("names where a server does otherwise, with its own words", async () => {
    const { home } = await served(MODELS[0], {
      answers: (request) =>
        request.text.includes("你好")
          ? { fault: "refusal", message: "nothing but ASCII, please" }
          : likeModel(request),
    });
    const { code, output } = await test(home, "--deep", "--yes");
    expect(code).toBe(1);
    expect(output).toMatch(
      /unicode +every script +refused \(invalid_request\): .*nothing but ASCII, please.* +taken/,
    );
    expect(output).toMatch(/40 checks: \d+ the same, 1 different, 0 not answered, \d+ do not app/);
  });

  it("says of a model that calls no tool that it calls none, and asks no more", async () => {
    const { home } = await served(MODELS[0], { answers: () => ({ text: "I would rather not." }) });
    const { output } = await test(home, "--deep", "--yes");
    for (const id of ["tool-forced", "loop", "loop-gone"])
      expect(output).toMatch(new RegExp(`^${id} .*not: calls a tool +taken`, "m"));
  });

  it("tells what was not answered from what was refused", async () => {
    const { home } = await served(MODELS[0], { answers: [{ fault: "overloaded" }] });
    const { code, output } = await test(home, "--only", "turns", "--yes");
    expect(code).toBe(1);
    expect(output).toMatch(/turns +several turns +no answer: .* +taken/);
    expect(output).toContain("0 different, 1 not answered");
  });

  it("asks one plain question without --deep", async () => {
    const { home, server } = await served(MODELS[0]);
    expect(await test(home, "--yes")).toMatchObject({
      code: 0,
      output: "1 check: 1 the same, 0 different, 0 not answered, 0 do not apply.",
    });
    expect(server.requests).toHaveLength(1);
  });

  it("spends nothing that nobody agreed to, and tells of a wrong key, model or check", async () => {
    const { home, server } = await served(MODELS[0], { keys: ["another-key"] });
    const unasked = await test(home, "--deep");
    expect(unasked).toMatchObject({ code: 2 });
    expect(unasked.errors).toContain("Nobody is there to agree to what this costs; add --yes.");
    expect(server.requests).toEqual([]);
    const wrong = await test(home, "--yes");
    expect(wrong).toMatchObject({
      code: 1,
      output: expect.stringMatching(/cannot be asked\..*401/),
    });
    expect(wrong.output + wrong.errors).not.toMatch(/unexpected|INTERNAL|key-for-tests/);
    expect((await test(home, "--only", "nothing", "--yes")).errors).toMatch(
      /There is no check "nothing"; there are: text, turns/,
    );
    expect((await test(home, "offline/offline", "--yes")).errors).toContain(
      "of which there is no emulator to compare it with",
    );
  });

  it("names the model that the server has in the place of one that it has not", async () => {
    const server = createServer((request, response) => {
      const isList = request.url?.endsWith("/models") === true;
      response.writeHead(isList ? 200 : 404, { "content-type": "application/json" });
      const error = { message: "The model does not exist", code: "model_not_found" };
      response.end(JSON.stringify(isList ? { data: [{ id: "tiny" }] } : { error }));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const home = await temporaryHome();
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const config = { models: { providers: { lmstudio: { baseUrl } } } };
    await writeFile(join(home, "clew.json"), JSON.stringify(config));
    const near = await test(home, "lmstudio/tinny", "--yes");
    expect(near.code).toBe(1);
    expect(near.output).toMatch(/cannot be asked\..*404.* Did you mean "lmstudio\/tiny"\?$/);
    const far = await test(home, "lmstudio/enormous", "--deep", "--yes", "--json");
    expect(JSON.parse(far.output)).toMatchObject({
      problem: expect.stringContaining("That server has: tiny."),
      complete: false,
      checks: [{ state: "unanswered", provider: { kind: "barred" } }],
    });
  });

  it("can be interrupted, and prints what it knows by then", async () => {
    const { home, server } = await served(MODELS[0], {
      answers: (request, index) => (index > 2 ? { fault: "hang" } : likeModel(request)),
    });
    const child = startClew(home, ["models", "test", "--deep", "--yes"]);
    while (server.requests.length < 4) await new Promise((resolve) => setTimeout(resolve, 20));
    child.process.kill("SIGINT");
    expect(await child.exit).toBe(130);
    expect(child.lines.join("\n")).toMatch(/40 checks: 3 the same, .*, 37 left out\./);
  });
});
