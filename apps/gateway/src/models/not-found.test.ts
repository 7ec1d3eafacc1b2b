import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createEmulator } from "@clew/providers/testing";
import { expect, it, onTestFinished } from "vitest";
import { clew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";

const NOT_THERE = { fault: "refusal", status: 404, message: "no such model" } as const;

async function homeOf(
  models: readonly string[],
  answer: typeof NOT_THERE | { text: string } = NOT_THERE,
) {
  const server = await createEmulator("openai-completions", { answers: [answer], models });
  onTestFinished(() => server.close());
  const home = await temporaryHome();
  const providers = { own: { baseUrl: server.baseUrl } };
  const agents = { defaults: { model: "own/tiny-9" } };
  await writeFile(join(home, "clew.json"), JSON.stringify({ agents, models: { providers } }));
  return home;
}

it("a message to a model that is not there names the one that may be meant", async () => {
  const home = await homeOf(["tiny-1", "large"]);
  const { code, errors } = await clew(home, ["chat", "-s", "main", "hi"]);
  expect([code, errors]).toEqual([1, expect.stringContaining('Did you mean "own/tiny-1"?')]);
  const tested = await clew(home, ["models", "test", "--yes"]);
  expect([tested.code, tested.output]).toEqual([
    1,
    expect.stringContaining("own/tiny-9 cannot be asked."),
  ]);
  expect(tested.output).toContain('Did you mean "own/tiny-1"?');
});

it("a test of a model that its server answers for, but does not list, warns of it", async () => {
  const home = await homeOf(["tiny-1"], { text: "Hello." });
  const { output } = await clew(home, ["models", "test", "--yes"]);
  expect(output).toMatch(/^warning: own\/tiny-9 is not among .* did you mean "own\/tiny-1"\?$/m);
});

it("a message to a model that is not there says where models are listed, if its server does not", async () => {
  const home = await homeOf([]);
  const { errors } = await clew(home, ["chat", "-s", "main", "hi"]);
  expect(errors).toContain('"clew models list" lists those that are known.');
});
