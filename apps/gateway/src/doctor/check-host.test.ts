import { existsSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { readEnvironment } from "../config/environment.ts";
import { temporaryHome } from "../testing/home.ts";
import { checkHost } from "./check-host.ts";

/** What is found of a model that speaks this api, asked with this key. */
async function foundOf(api: string, apiKey: string): Promise<string[]> {
  return (await findingsOf(api, apiKey)).map(({ code }) => code);
}

async function findingsOf(api: string, apiKey: string, query = "") {
  const server = await createEmulator(api, { keys: ["right"] });
  onTestFinished(() => server.close());
  const home = await temporaryHome();
  const config = {
    agents: { defaults: { model: "house/m" } },
    models: { providers: { house: { api, baseUrl: `${server.baseUrl}${query}`, apiKey } } },
  };
  await writeFile(join(home, "clew.json"), JSON.stringify(config));
  const findings = await checkHost(readEnvironment({ CLEW_HOME: home }));
  return findings.filter(({ subject }) => subject === "model");
}

describe("the doctor, asking a model's server", () => {
  it.each([
    ...["anthropic-messages", "google-generative-ai"],
    ...["openai-completions", "openai-responses"],
  ])("signs in the way %s wants it", async (api) => {
    expect(await foundOf(api, "right")).toEqual(["model"]);
    expect(await foundOf(api, "wrong")).toEqual(["model-key-refused"]);
  });

  it("asks before the query of an address, shows none of it, and says which api is spoken", async () => {
    const [found] = await findingsOf("openai-completions", "right", "?api-version=preview");
    expect(found?.code).toBe("model");
    expect(found?.text).toContain("/v1 answers; speaks openai-completions");
    expect(found?.text).toContain("(another: models.providers.house.api)");
  });
});

describe("the doctor, looking at the folder", () => {
  const folderAt = async (home: string) =>
    (await checkHost(readEnvironment({ CLEW_HOME: home }))).find(
      ({ subject }) => subject === "folder",
    );

  it("finds that one cannot be created, and leaves nothing where one can", async () => {
    // Nobody can make a folder in a file; nor, on Linux, among the processes.
    const file = join(await temporaryHome(), "file");
    await writeFile(file, "");
    const nowhere = [join(file, "home"), ...(existsSync("/proc/self") ? ["/proc/nope"] : [])];
    for (const home of nowhere)
      expect(await folderAt(home)).toMatchObject({
        ...{ level: "failure", code: "home-not-writable" },
        text: `${home} does not exist and cannot be created by this account; set CLEW_HOME`,
      });
    const above = await temporaryHome();
    expect(await folderAt(join(above, "deep/home"))).toMatchObject({ code: "home-missing" });
    expect(await readdir(above)).toEqual([]);
  });
});
