import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readEnvironment } from "../config/environment.ts";
import { clew, collectOutput } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";
import { signIns } from "./sign-ins.ts";

async function run(config: object, variables: Record<string, string> = {}) {
  const home = await temporaryHome();
  await writeFile(join(home, "clew.json"), JSON.stringify(config));
  const environment = readEnvironment({ CLEW_HOME: home, HOME: home, ...variables });
  const output = collectOutput();
  const code = await signIns({ json: true }, { environment, output });
  return { code, text: output.out(), environment, output };
}

it("lists every provider in use with the place its key comes from, never the key", async () => {
  const { code, text } = await run(
    {
      agents: { defaults: { model: "openai/gpt-5.6" } },
      models: {
        providers: {
          anthropic: { apiKeyCommand: ["pass", "show", "claude"] },
          house: { baseUrl: "http://127.0.0.1:1/v1", apiKey: "secret-1" },
        },
      },
    },
    { OPENAI_API_KEY: "secret-2", MISTRAL_API_KEY: "secret-3" },
  );
  expect(code).toBe(0);
  expect(text).not.toContain("secret");
  const { providers } = JSON.parse(text) as { providers: { provider: string; from: string }[] };
  expect(providers.map(({ provider, from }) => [provider, from])).toEqual([
    ["anthropic", 'what the command "pass" prints'],
    ["house", "the setting models.providers.house.apiKey"],
    ["mistral", "MISTRAL_API_KEY of the environment"],
    ["openai", "OPENAI_API_KEY of the environment"],
  ]);
});

it("says what is missing, and exits 1 when it is missing for the model in use", async () => {
  const bedrock = { agents: { defaults: { model: "amazon-bedrock/amazon.nova-pro-v1:0" } } };
  const { code, text } = await run(bedrock, { AWS_REGION: "eu-west-1" });
  expect(code).toBe(1);
  expect(text).toContain("there are no AWS credentials; run: aws configure");
  expect(text).toContain('"baseUrl": "https://bedrock-runtime.eu-west-1.amazonaws.com"');
  const other = { models: { providers: { "amazon-bedrock": {} } } };
  expect((await run(other)).code).toBe(0);
});

it("is a table for people", async () => {
  const home = await temporaryHome();
  const { code, output } = await clew(home, ["models", "sign-in"]);
  expect(code).toBe(0);
  expect(output).toMatch(/^provider +signs in with\s*\n[\s\S]*offline +nothing/);
});

it("names the character of a key that no request can carry, and where the key is from", async () => {
  const model = { agents: { defaults: { model: "openai/gpt-5.6" } } };
  const { code, text } = await run(model, { OPENAI_API_KEY: "sk–secret" });
  expect(code).toBe(1);
  expect(text).toContain(
    'The key of provider \\"openai\\" (OPENAI_API_KEY of the environment) has the character U+2013 (–) at place 3, which HTTP cannot carry; copy the key anew.',
  );
  expect(text).not.toContain("secret");
});

it("asks for a token where Google's command line client would have one", async () => {
  const model = { agents: { defaults: { model: "google-gemini-cli/gemini-3-pro" } } };
  const { code, text } = await run(model);
  expect(code).toBe(1);
  expect(text).toContain("needs a key: set GOOGLE_GEMINI_CLI_API_KEY");
});
