import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createEmulator } from "@clew/providers/testing";
import { expect, it, onTestFinished } from "vitest";
import { clew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";

async function chat(provider: object) {
  const server = await createEmulator("openai-completions", {
    keys: ["right"],
    answers: [{ text: "Hello." }],
  });
  onTestFinished(() => server.close());
  const home = await temporaryHome();
  const providers = { house: { baseUrl: server.baseUrl, ...provider } };
  const agents = { defaults: { model: "house/m" } };
  await writeFile(join(home, "clew.json"), JSON.stringify({ agents, models: { providers } }));
  const say = () => clew(home, ["chat", "-s", "main", "hi"]);
  return { home, say };
}

it("a provider that refuses a call without a key is said to have none set", async () => {
  const { say } = await chat({});
  const { code, output, errors } = await say();
  expect(code).toBe(1);
  expect(errors).toContain("none is set: set HOUSE_API_KEY, or models.providers.house.apiKey");
  expect(errors).toContain('no key was sent to provider "house"');
  expect(errors).not.toContain("check the key");
  expect(errors).toMatch(/\[auth\]$/);
  expect(output).toBe("");
});

it("a wrong key is not said to be missing", async () => {
  const { say } = await chat({ apiKey: "wrong-key-for-tests" });
  const { errors } = await say();
  expect(errors).not.toContain("none is set");
  expect(errors).toContain("check the key");
});

it("a fallback answers where only the key of the first model is missing", async () => {
  const server = await createEmulator("openai-completions", { answers: [{ text: "Hello." }] });
  onTestFinished(() => server.close());
  const home = await temporaryHome();
  const providers = { house: { baseUrl: server.baseUrl } };
  const write = (fallbacks: string[], primary = "anthropic/claude-opus-4-6") =>
    writeFile(
      join(home, "clew.json"),
      JSON.stringify({
        agents: { defaults: { model: { primary, fallbacks } } },
        models: { providers },
      }),
    );
  await write(["house/m"]);
  const answered = await clew(home, ["chat", "-s", "main", "hi"]);
  expect(answered).toMatchObject({ code: 0, output: expect.stringContaining("Hello.") });
  const missing = 'Provider "anthropic" needs a key: set ANTHROPIC_API_KEY';
  const { output: status } = await clew(home, ["chat", "-s", "main", "/status"]);
  expect(status).toMatch(/^Model: house\/m,/m);
  expect(status).toContain(
    `in place of anthropic/claude-opus-4-6, which cannot be asked: ${missing}`,
  );
  const { output: states } = await clew(home, ["models", "status"]);
  expect(states.indexOf("house/m")).toBeLessThan(states.indexOf("anthropic/claude-opus-4-6"));
  const { output: findings } = await clew(home, ["doctor", "--json"]);
  expect(findings).toContain("model-passed-over");
  expect(findings).not.toContain("model-unusable");

  await write([]);
  const alone = await clew(home, ["chat", "-s", "main", "hi"]);
  expect(alone.code).not.toBe(0);
  expect(alone.errors).toContain(missing);
  await write(["house/m"], "antropic/claude-opus-4-6");
  const misspelt = await clew(home, ["chat", "-s", "main", "hi"]);
  expect(misspelt.code).not.toBe(0);
  expect(misspelt.errors).toContain('Did you mean "anthropic"?');
});

it("a failed turn leaves a sound file, which says why it failed", async () => {
  const { home, say } = await chat({});
  await say();
  const again = await say();
  expect(again.errors).not.toContain("repaired");
  const shown = await clew(home, ["sessions", "show", "main"]);
  expect(shown.output).toContain("(failed: Provider");
  const { output } = await clew(home, ["doctor", "--json"]);
  expect(output).not.toContain("needs repair");
});
