import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { readEnvironment } from "../config/environment.ts";
import { temporaryHome } from "../testing/home.ts";
import { checkHost } from "./check-host.ts";
import type { Finding } from "./finding.ts";

/** What is found of a model that speaks this api, signed in to like this. */
async function findingsOf(api: string, access: object): Promise<Finding[]> {
  const server = await createEmulator(api, { keys: ["right"], models: ["m"] });
  onTestFinished(() => server.close());
  const home = await temporaryHome();
  const config = {
    agents: { defaults: { model: "house/m" } },
    models: { providers: { house: { api, baseUrl: server.baseUrl, ...access } } },
  };
  await writeFile(join(home, "clew.json"), JSON.stringify(config));
  const findings = await checkHost(readEnvironment({ CLEW_HOME: home, HOME: home }));
  return findings.filter(({ subject }) => subject === "model");
}

const printing = (text: string) => [process.execPath, "-e", `console.log(${JSON.stringify(text)})`];

describe("the doctor, asking a model's server", () => {
  it("says where the sign-in comes from, never what it is", async () => {
    const [found] = await findingsOf("openai-completions", { apiKeyCommand: printing("right") });
    expect(found?.text).toContain(`signs in with what the command "${process.execPath}" prints`);
    const [refused] = await findingsOf("openai-completions", {
      apiKeyCommand: printing("wrong-1"),
    });
    expect(refused).toMatchObject({ code: "model-key-refused" });
    expect(refused?.text).not.toContain("wrong-1");
  });

  it("says what to do when there is no sign-in", async () => {
    const api = "bedrock-converse-stream";
    const command = [process.execPath, "-e", "process.exit(1)"];
    expect(await findingsOf(api, { apiKeyCommand: command })).toMatchObject([
      { code: "model-sign-in", text: expect.stringMatching(/"house" cannot sign in: .*by hand/) },
    ]);
    const aws = { region: "eu-west-1", profile: "gone" };
    expect(await findingsOf(api, { aws })).toMatchObject([
      { code: "model-unusable", text: expect.stringMatching(/run: aws configure --profile gone/) },
    ]);
  });

  it("only asks whether a server is there that lists no models", async () => {
    const access = { apiKeyCommand: printing("right") };
    expect(await findingsOf("bedrock-converse-stream", access)).toMatchObject([{ code: "model" }]);
  });
});
