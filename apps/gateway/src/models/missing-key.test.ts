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
