import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";

async function found(home: string, tools: object, agents: object = {}) {
  writeFileSync(join(home, "clew.json"), JSON.stringify({ tools, agents }));
  const { findings } = JSON.parse((await clew(home, ["doctor", "--json"])).output) as {
    findings: { level: string; code: string; text: string }[];
  };
  return findings.filter(({ code }) => code.startsWith("tools"));
}

describe("clew doctor", () => {
  it("says that tools which are turned on have no workspace, and what they are set to", async () => {
    const home = await temporaryHome();
    const tools = { write: "ask", shell: "off" };
    expect(await found(home, {})).toEqual([]);
    const agents = { defaults: { workspace: join(home, "work") } };
    expect(await found(home, tools, agents)).toMatchObject([
      {
        level: "warning",
        code: "tools-without-workspace",
        text: expect.stringMatching(
          /^agent main is offered none for files and commands: .*work is not there; make the folder/,
        ),
      },
      { level: "ok" },
    ]);
    mkdirSync(join(home, "work"));
    expect(await found(home, tools, agents)).toMatchObject([
      { level: "ok", code: "tools", text: 'tools.write is "ask"' },
    ]);
  });

  it("misses no folder of an agent's own, which is made when a tool needs it", async () => {
    expect(await found(await temporaryHome(), { write: "ask", shell: "off" })).toMatchObject([
      { level: "ok" },
    ]);
  });

  it("warns of commands in a workspace around the home, which can read what is secret there", async () => {
    const home = await temporaryHome();
    const around = (shell: string, workspace: string) =>
      found(home, { shell, write: "ask" }, { defaults: { workspace } });
    expect(await around("ask", join(home, ".."))).toMatchObject([
      { level: "warning", code: "tools-around-home", text: expect.stringContaining("secret") },
      { level: "ok" },
    ]);
    expect(await around("off", join(home, ".."))).toMatchObject([{ level: "ok" }]);
    mkdirSync(join(home, "work"));
    expect(await around("ask", join(home, "work"))).toMatchObject([{ level: "ok" }]);
  });
});
