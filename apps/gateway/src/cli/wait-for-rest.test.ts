import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { clew, runClew, startClew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";
import { obedientModel, run } from "../testing/obedient-model.ts";

const SOON = { timeout: 120_000 };
const WAITING = "(waiting for sessions that others started or wrote to; Ctrl-C ends them)";
const spawn = (task: string) => run("sessions_spawn", { task });

async function obedientHome() {
  const home = await temporaryHome();
  const { config } = await obedientModel();
  writeFileSync(join(home, "clew.json"), JSON.stringify(config));
  return home;
}

describe("a chat that ends while a session runs that it started", () => {
  it.each([
    { how: "with one message", args: [spawn("look for it")], typed: "" },
    { how: "from a pipe", args: [], typed: `${spawn("look for it")}\n` },
  ])("waits for it, and prints what comes of it, $how", async ({ args, typed }) => {
    const chat = startClew(await obedientHome(), ["chat", ...args]);
    chat.process.stdin!.end(typed);
    expect(await chat.exit).toBe(0);
    expect(chat.lines[0]).toContain("result: Started agent:main:subagent:");
    expect(chat.lines.at(-1)).toBe("heard: heard: look for it");
    expect(chat.errors()).toContain(WAITING);
    expect(chat.errors()).toContain("(in reply to session subagent:");
  });

  it("prints it as a line of JSON where that is wanted", async () => {
    const chat = startClew(await obedientHome(), ["chat", "--json", spawn("look for it")]);
    chat.process.stdin!.end();
    expect(await chat.exit).toBe(0);
    expect(JSON.parse(chat.lines.at(-1)!)).toMatchObject({
      ...{ type: "unasked", text: "heard: heard: look for it" },
    });
  });

  it("is killed: the list says at once that nobody runs the session", async () => {
    const home = await obedientHome();
    const chat = startClew(home, ["chat", spawn("HANG")]);
    await expect.poll(chat.errors, SOON).toContain(WAITING);
    const list = async () => (await clew(home, ["sessions", "list"])).output;
    expect(await list()).toContain(" (running) ");
    chat.process.kill("SIGKILL");
    await chat.exit;
    expect(await list()).toContain(" (lost) ");
  });

  it("does not wait after Ctrl-C, and the session is told of what ended it", async () => {
    const home = await obedientHome();
    const chat = startClew(home, ["chat", spawn("HANG")]);
    await expect.poll(chat.errors, SOON).toContain(WAITING);
    chat.process.kill("SIGINT");
    expect(await chat.exit).toBe(130);
    const { output } = await runClew(home, ["chat", "hello"]);
    expect(output).toBe("heard: hello");
    const { output: shown } = await clew(home, ["sessions", "show", "main"]);
    expect(shown).toContain("It was cancelled (the program that ran it stopped).");
    expect(shown).toMatch(/ session agent:main:subagent:[\w-]+:\n {2}The session /);
  });
});
