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
