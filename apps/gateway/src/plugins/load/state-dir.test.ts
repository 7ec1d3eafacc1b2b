import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runClew } from "../../testing/command.ts";
import { temporaryHome } from "../../testing/home.ts";
import { copyTidepool } from "../../testing/plugins.ts";
import { provideStateDir } from "./state-dir.ts";

/** A home with files as OpenClaw would have them, each last read long ago. */
function makeDecoy(home: string): string[] {
  const names = [
    "openclaw.json",
    "tidepool.db",
    "agents/main/sessions/sessions.json",
    "extensions/x/openclaw.plugin.json",
  ];
  return names.map((name) => {
    const file = join(home, ".openclaw", name);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, "a decoy, and no database");
    utimesSync(file, new Date("2020-01-01"), new Date("2024-01-01"));
    return file;
  });
}

function chat(home: string, clewHome: string, more: NodeJS.ProcessEnv = {}) {
  return runClew(clewHome, ["chat", "hello"], { env: { HOME: home, ...more } });
}

describe("a person's own OpenClaw files", () => {
  it("are never opened by a plugin written for OpenClaw", async () => {
    const scratch = await temporaryHome();
    const decoys = makeDecoy(scratch);
    const folder = copyTidepool(scratch);
    const clewHome = join(scratch, "clew");
    mkdirSync(clewHome);
    const config = { plugins: { load: { paths: [folder] }, slots: { contextEngine: "tidepool" } } };
    writeFileSync(join(clewHome, "clew.json"), JSON.stringify(config));
    const before = decoys.map((file) => statSync(file).atimeMs);
    expect(await chat(scratch, clewHome)).toMatchObject({ code: 0 });
    expect(decoys.map((file) => statSync(file).atimeMs)).toEqual(before);
    expect(decoys.map((file) => readFileSync(file, "utf8"))).toEqual(
      decoys.map(() => "a decoy, and no database"),
    );
    expect(readdirSync(join(scratch, ".openclaw")).sort()).toEqual([
      "agents",
      "extensions",
      "openclaw.json",
      "tidepool.db",
    ]);
    expect(readdirSync(clewHome)).toContain("tidepool.db");

    // The same look does see it when the operator sends the plugin there: the database is no
    // database, and legacy answers.
    const sent = await chat(scratch, clewHome, { OPENCLAW_STATE_DIR: join(scratch, ".openclaw") });
    expect(sent.errors).toContain("file is not a database");
    expect(sent.code).toBe(0);
  });
});

describe("the folder plugins keep their files in", () => {
  it("is ours unless the operator chose one", () => {
    const variables: Record<string, string | undefined> = {};
    expect(provideStateDir("/home/one", variables)).toBe("/home/one");
    expect(variables).toEqual({ OPENCLAW_STATE_DIR: "/home/one" });
    // What we set ourselves is no choice of the operator's.
    expect(provideStateDir("/home/two", variables)).toBe("/home/two");
    expect(provideStateDir("/home/three", { OPENCLAW_STATE_DIR: "/chosen" })).toBe("/chosen");
  });

  it("of one environment says nothing of another's", () => {
    const one: Record<string, string | undefined> = {};
    provideStateDir("/home/one", one);
    provideStateDir("/home/other", {});
    expect(provideStateDir("/home/two", one)).toBe("/home/two");
  });
});
