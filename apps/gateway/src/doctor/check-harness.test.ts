import { describe, expect, it } from "vitest";
import { readEnvironment } from "../config/environment.ts";
import { checkConfigText } from "../config/load.ts";
import { codexWorld } from "../testing/codex/world.ts";
import { temporaryHome } from "../testing/home.ts";
import { checkHarnesses } from "./check-harness.ts";

async function check(config: object, home: string) {
  const environment = readEnvironment({ ...process.env, CLEW_HOME: home });
  return checkHarnesses(environment, checkConfigText(JSON.stringify(config), "clew.json"));
}

describe("the doctor on programs that run turns", () => {
  it("says nothing where there are none", async () => {
    expect(await check({}, await temporaryHome())).toEqual([]);
  });

  it("names the version of one that answers, and the agents", { timeout: 60_000 }, async () => {
    const { config, home } = await codexWorld();
    const [finding] = await check(config, home);
    expect(finding).toMatchObject({ level: "ok", code: "harness" });
    expect(finding?.text).toMatch(/^agent main runs in Codex app-server harness: .* 0\.171\.0$/);
  });

  it("says which agent's model a program cannot ask", { timeout: 60_000 }, async () => {
    const { config, home } = await codexWorld();
    const providers = {
      other: { baseUrl: "http://127.0.0.1:9", api: "anthropic-messages", models: [{ id: "m" }] },
    };
    const agents = { defaults: { model: "other/m", harness: "codex" } };
    const findings = await check({ ...config, models: { providers }, agents }, home);
    expect(findings.map(({ code }) => code)).toEqual(["harness", "harness-model"]);
    expect(findings[1]?.text).toMatch(
      /^agent main cannot run: Codex .* the api "openai-responses", and other\/m speaks "anthropic-messages": choose/,
    );
  });

  it("says what to do about one that is not there, or that nobody knows", async () => {
    const agents = {
      list: [
        { id: "main", harness: "codex" },
        { id: "b", harness: "codx" },
      ],
    };
    const config = { agents, harness: { codex: { command: "no-such-codex" } } };
    const findings = await check(config, await temporaryHome());
    expect(findings.map(({ code }) => code)).toEqual(["harness-unavailable", "harness-unknown"]);
    expect(findings[0]?.text).toContain("npm install -g @openai/codex");
    expect(findings[1]?.text).toContain("there is embedded, codex");
  });
});
