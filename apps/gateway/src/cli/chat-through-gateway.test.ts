import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clew, startClew } from "../testing/command.ts";
import { homeWithOwnPort } from "../testing/home.ts";
import { obedientModel, run } from "../testing/obedient-model.ts";
import { startPluginProcess } from "../testing/plugin-process.ts";
import { engineCode } from "../testing/plugins.ts";
import { clewAtTerminal, hasTerminals } from "../testing/terminal.ts";

const SOON = { timeout: 120_000 };

/** An engine that notes which process it was loaded in. */
const NOTING = `import { appendFileSync } from "node:fs";
appendFileSync(process.env.NOTES, process.pid + "\\n");
${engineCode("small")}`;

/** A home whose model does what it is told; tools that write ask. */
async function homeThatAsks() {
  const home = await homeWithOwnPort();
  const file = join(home, "clew.json");
  const { config } = await obedientModel();
  const workspace = await homeWithOwnPort();
  const agents = { defaults: { ...config.agents.defaults, workspace } };
  const given = JSON.parse(readFileSync(file, "utf8")) as object;
  writeFileSync(file, JSON.stringify({ ...config, ...given, agents, tools: { write: "ask" } }));
  return { home, workspace };
}

describe("a message from the command line while the home's gateway runs", () => {
  it("goes through it: no plugin is loaded again, and the page has the same conversation", async () => {
    const notes = join(await homeWithOwnPort(), "notes");
    const env = { NOTES: notes };
    const { home, child, get } = await startPluginProcess(NOTING, { env });
    const said = await clew(home, ["chat", "My cat is called Minka."]);
    expect([said.code, said.errors]).toEqual([0, ""]);
    expect(said.output).not.toBe("");
    const command = await clew(home, ["chat", "/status"]);
    expect([command.code, command.output]).toEqual([0, expect.stringContaining("2 messages")]);
    const piped = startClew(home, ["chat", "-s", "piped"], { env });
    piped.process.stdin!.end("one\ntwo\n");
    expect(await piped.exit).toBe(0);
    expect(readFileSync(notes, "utf8")).toBe(`${child.process.pid}\n`);
    const { sessions } = (await get("/api/sessions")) as { sessions: { key: string }[] };
    expect(sessions.map(({ key }) => key).sort()).toEqual(["agent:main:main", "agent:main:piped"]);
    const { messages } = (await get("/api/sessions/piped/messages")) as { messages: object[] };
    expect(messages).toHaveLength(4);
  });

  it("prints the same lines of JSON, and ends with the same code, as without one", async () => {
    const home = await homeWithOwnPort();
    const shapes = async (...words: string[]) => {
      const { code, output, errors } = await clew(home, ["chat", "--json", ...words]);
      const types = output === "" ? [] : output.split("\n").map((line) => JSON.parse(line).type);
      return { code, types: [...new Set(types)], errors };
    };
    const all = async () => [
      await shapes("hello"),
      await shapes("/status"),
      await shapes("/model nobody/none"),
      await shapes("-s", "agent:", "hello"),
    ];
    const alone = await all();
    expect(alone.map(({ code }) => code)).toEqual([0, 0, 1, expect.any(Number)]);
    expect(alone[3]!.code).not.toBe(0);
    const gateway = startClew(home, ["start"]);
    await gateway.nextLine();
    expect(await all()).toEqual(alone);
  });

  it("says who may answer where it cannot ask whether a tool may run", async () => {
    const { home, workspace } = await homeThatAsks();
    const gateway = startClew(home, ["start"]);
    await gateway.nextLine();
    const write = run("write_file", { path: "a.txt", content: "one" });
    const chat = startClew(home, ["chat", write]);
    const told =
      '(write_file waits for leave in session main: answer on the page, or by "clew approvals")';
    await expect.poll(() => chat.errors(), SOON).toContain(told);
    const { output } = await clew(home, ["approvals", "list", "--json"]);
    const id = /"id": "([^"]+)"/.exec(output)![1]!;
    expect((await clew(home, ["approvals", "answer", id, "once"])).code).toBe(0);
    expect(await chat.exit).toBe(0);
    expect(readFileSync(join(workspace, "a.txt"), "utf8")).toBe("one");
  });

  it.runIf(hasTerminals)(
    "asks at the terminal whether a tool may run, and stops it at Ctrl-C",
    async () => {
      const { home, workspace } = await homeThatAsks();
      const gateway = startClew(home, ["start"]);
      await gateway.nextLine();
      const write = run("write_file", { path: "a.txt", content: "one" });
      for (const [keys, code] of [
        ["y\r", 0],
        ["\u0003", 130],
      ] as const) {
        const chat = clewAtTerminal(home, ["chat", write]);
        await expect.poll(chat.shown, SOON).toContain("Allow it?");
        chat.type(keys);
        expect(await chat.exit).toBe(code);
      }
      expect(readFileSync(join(workspace, "a.txt"), "utf8")).toBe("one");
    },
  );
});
