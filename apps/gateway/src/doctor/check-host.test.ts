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
  const server = await createEmulator(api, { keys: ["right"], models: ["m"] });
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

describe("the doctor, reading which models a server lists", () => {
  async function findingAt(baseUrl: (server: string) => string) {
    const server = await createEmulator("openai-completions", {
      ...{ models: ["tiny-1", "tiny-2"], exactAddress: true },
    });
    onTestFinished(() => server.close());
    const home = await temporaryHome();
    const config = {
      agents: { defaults: { model: "own/tiny-9" } },
      models: { providers: { own: { baseUrl: baseUrl(server.baseUrl) } } },
    };
    await writeFile(join(home, "clew.json"), JSON.stringify(config));
    const findings = await checkHost(readEnvironment({ CLEW_HOME: home }));
    const found = findings.find(({ subject }) => subject === "model");
    return { ...found!, address: server.baseUrl };
  }

  it("warns of a model that is not among them, and names the one that is near", async () => {
    const { level, code, text, address } = await findingAt((server) => server);
    expect([level, code, text]).toEqual([
      ...["warning", "model-not-listed"],
      `own/tiny-9 is not among the models that ${address} lists (tiny-1, tiny-2); did you mean "own/tiny-1"?`,
    ]);
  });

  it("finds the list one folder below an address that lacks its /v1", async () => {
    const { level, code, text, address } = await findingAt((server) => server.slice(0, -3));
    expect([level, code]).toEqual(["failure", "model-address"]);
    expect(text).toContain(`${address} has one; set models.providers.own.baseUrl to that`);
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
