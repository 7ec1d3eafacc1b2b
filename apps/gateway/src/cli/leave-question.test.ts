import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";
import { obedientModel, run } from "../testing/obedient-model.ts";
import { clewAtTerminal, hasTerminals } from "../testing/terminal.ts";

const SOON = { timeout: 120_000 };
const WRITE = run("write_file", { path: "a.txt", content: "one" });
const CTRL_C = "\u0003";
const CTRL_D = "\u0004";

/** A chat that waits at "Allow it?". */
async function asking(args: readonly string[]) {
  const home = await temporaryHome();
  const { config } = await obedientModel();
  const defaults = { ...config.agents.defaults, workspace: await temporaryHome() };
  const settings = { ...config, agents: { defaults }, tools: { write: "ask" } };
  await writeFile(join(home, "clew.json"), JSON.stringify(settings));
  const chat = clewAtTerminal(home, ["chat", ...args]);
  if (args.length === 0) {
    await expect.poll(chat.shown, SOON).toContain("Ctrl-D quits");
    chat.type(`${WRITE}\r`);
  }
  await expect.poll(chat.shown, SOON).toContain("Allow it?");
  return { chat, home };
}

describe.runIf(hasTerminals)("a chat that is left while it asks for an approval", () => {
  it.each([
    { how: "by Ctrl-D", keys: CTRL_D, code: 0, told: "the turn was stopped" },
    { how: "by SIGTERM", keys: null, code: 130, told: "the turn was stopped" },
  ])("ends $how, and is no error of Clew", async ({ keys, code, told }) => {
    const { chat, home } = await asking([]);
    if (keys === null) chat.kill("SIGTERM");
    else chat.type(keys);
    expect(await chat.exit).toBe(code);
    expect(chat.shown()).not.toContain("INTERNAL");
    const { output } = await clew(home, ["sessions", "show", "main"]);
    expect(output).toMatch(new RegExp(`write_file was not run: .*${told}`));
  });

  it.each([
    { how: "Ctrl-D", keys: CTRL_D, code: 0, told: "write_file was not run" },
    { how: "Ctrl-C", keys: CTRL_C, code: 130, told: "the turn was stopped" },
    { how: "SIGTERM", keys: null, code: 130, told: "the turn was stopped" },
  ])("with one message takes $how as elsewhere", async ({ keys, code, told }) => {
    const { chat } = await asking([WRITE]);
    if (keys === null) chat.kill("SIGTERM");
    else chat.type(keys);
    expect(await chat.exit).toBe(code);
    expect(chat.shown()).toContain(told);
  });
});

describe.runIf(hasTerminals)("a chat whose terminal is closed while nothing happens", () => {
  it("gives its session back", async () => {
    const home = await temporaryHome();
    const { config } = await obedientModel();
    await writeFile(join(home, "clew.json"), JSON.stringify(config));
    const chat = clewAtTerminal(home, ["chat"]);
    await expect.poll(chat.shown, SOON).toContain("Ctrl-D quits");
    chat.type("hello\r");
    await expect.poll(chat.shown, SOON).toContain("heard: hello");
    const locks = async () =>
      (await readdir(home, { recursive: true })).filter((name) => name.endsWith(".jsonl.lock"));
    expect(await locks()).toHaveLength(1);
    chat.closeWindow();
    await expect.poll(chat.runs, SOON).toBe(false);
    expect(await locks()).toEqual([]);
  });
});
