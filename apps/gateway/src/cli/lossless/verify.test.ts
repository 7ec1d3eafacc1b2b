import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openMessageStore } from "@clew/lossless-engine/store";
import { conversation } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { clew } from "../../testing/command.ts";
import { temporaryHome } from "../../testing/home.ts";
import { startPluginGateway } from "../../testing/plugins.ts";

const databaseOf = (home: string, agent = "main") =>
  join(home, "agents", agent, "clew-lossless", "lossless.db");

async function homeWithMessages() {
  const home = await temporaryHome();
  const store = openMessageStore(databaseOf(home));
  await store.ingest("s", conversation({ turns: 3 }));
  store.close();
  return home;
}

describe("clew lossless verify", () => {
  it("says that all is as it was stored", async () => {
    const home = await homeWithMessages();
    expect(await clew(home, ["lossless", "verify"])).toMatchObject({
      code: 0,
      output: `${databaseOf(home)}: 6 messages and 0 long texts looked at, all are as they were stored`,
    });
  });

  it("names what is not, as JSON too, and ends with 1", async () => {
    const home = await homeWithMessages();
    const db = new DatabaseSync(databaseOf(home));
    db.exec("DELETE FROM message WHERE seq = 2");
    db.close();
    const told = await clew(home, ["lossless", "verify", "--agent", "main"]);
    expect(told.code).toBe(1);
    expect(told.output).toContain("  message 2 of conversation 1 is gone\n");
    expect(told.output).toMatch(/Keep a copy of the file and its backups before anything else\./);
    const json = await clew(home, ["lossless", "verify", "--json"]);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.output).databases[0]).toMatchObject({
      file: databaseOf(home),
      agents: ["main"],
      state: "done",
      isWhole: false,
      faults: expect.arrayContaining([
        expect.objectContaining({ kind: "missing", what: "message", number: 2 }),
      ]),
    });
  });

  it("reads the file that the settings name, and goes on past one that is no database", async () => {
    const home = await homeWithMessages();
    await writeFile(databaseOf(home), "no database ".repeat(1_000));
    const told = await clew(home, ["lossless", "verify"]);
    expect(told).toMatchObject({ code: 1, output: expect.stringContaining("it is no database") });
    const plugins = { entries: { lossless: { config: { databasePath: "own/some.db" } } } };
    await writeFile(join(home, "clew.json"), JSON.stringify({ plugins }));
    const elsewhere = join(home, "agents/main/own/some.db");
    const nothing = await clew(home, ["lossless", "verify"]);
    expect(nothing).toMatchObject({ code: 0, output: `${elsewhere}: nothing is kept yet` });
    expect(existsSync(elsewhere)).toBe(false);
  });

  it("knows no agent that is not there", async () => {
    const home = await temporaryHome();
    expect(await clew(home, ["lossless", "verify", "--agent", "nobody"])).toMatchObject({
      code: 2,
      errors: expect.stringContaining('There is no agent "nobody"; there is main.'),
    });
  });

  it("holds the store against the transcripts of its sessions", async () => {
    const home = await temporaryHome();
    const config = { plugins: { slots: { contextEngine: "lossless" } } };
    const { say, stop } = await startPluginGateway(config, home);
    for (const text of ["one", "two", "three"]) await say(text);
    await stop();
    expect(await clew(home, ["lossless", "verify"])).toMatchObject({ code: 0 });
    const db = new DatabaseSync(databaseOf(home));
    db.exec("DELETE FROM message WHERE seq = 3");
    db.close();
    const told = await clew(home, ["lossless", "verify"]);
    expect(told.code).toBe(1);
    expect(told.output).toMatch(
      /message \S+ of session agent:main:main stands in its transcript and is not stored/,
    );
  });
});
