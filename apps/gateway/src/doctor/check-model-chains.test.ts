import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readEnvironment } from "../config/environment.ts";
import { ConfigSchema } from "../config/schema.ts";
import { temporaryHome } from "../testing/home.ts";
import { checkModelChains } from "./check-model-chains.ts";

it("the doctor names every fallback and every agent's model that the settings cannot reach", async () => {
  const home = await temporaryHome();
  const environment = readEnvironment({ CLEW_HOME: home, HOME: home, MISTRAL_API_KEY: "k" });
  const config = ConfigSchema.parse({
    agents: {
      defaults: {
        model: { primary: "offline/offline", fallbacks: ["mistral/m", "antropic/claude"] },
      },
      list: [
        { id: "main", default: true },
        { id: "writer", model: "openai/gpt-5.6" },
        { id: "clerk", model: "mistral/m" },
      ],
    },
  });
  const findings = checkModelChains(environment, { config });
  expect(findings.map(({ level, code }) => [level, code])).toEqual([
    ["warning", "model-fallback-unusable"],
    ["warning", "model-agent-unusable"],
  ]);
  expect(findings[0]!.text).toContain('Did you mean "anthropic"?');
  expect(findings[1]!.text).toContain(
    'the agent writer cannot ask openai/gpt-5.6: Provider "openai" needs a key: set OPENAI_API_KEY',
  );
});

it("the doctor is silent of a model that failed and that no setting names any more", async () => {
  const home = await temporaryHome();
  const environment = readEnvironment({ CLEW_HOME: home, HOME: home });
  const now = Date.parse("2026-11-27T19:00:00Z");
  const rest = { kind: "not_found", at: "2026-11-27T18:59:00.000Z", failures: 1 };
  const rests = ["lab/gone", "lab/m", "spare/*", "away/*"].map((name) => [
    name,
    { ...rest, until: "2026-11-27T19:10:00.000Z" },
  ]);
  await writeFile(
    join(home, "model-rests.json"),
    JSON.stringify({ v: 1, models: Object.fromEntries(rests) }),
  );
  const config = ConfigSchema.parse({
    agents: { defaults: { model: "lab/m", compaction: { model: "spare/m" } } },
    models: { providers: {} },
  });
  const findings = checkModelChains(environment, { config }, now);
  expect(findings.map(({ text }) => text)).toEqual([
    expect.stringMatching(/^lab\/m is not there, .*; asked all the same, as no other is there; /),
    expect.stringMatching(/^spare\/\* is not there/),
  ]);
});
