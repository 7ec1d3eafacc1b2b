import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { expect, it, onTestFinished } from "vitest";
import { collectOutput, startClew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";
import { obedientModel, run } from "../testing/obedient-model.ts";
import { startPluginGateway } from "../testing/plugins.ts";
import { typedLine } from "./typed-line.ts";
import { printUnaskedReplies } from "./unasked-replies.ts";

const SOON = { timeout: 120_000 };
const SPAWN = run("sessions_spawn", { task: "look for it", label: "sc\nout" });

async function talking({ json = false } = {}) {
  const { config } = await obedientModel();
  const { gateway, say } = await startPluginGateway(config, await temporaryHome());
  const input = new PassThrough();
  const screen = new PassThrough();
  screen.resume();
  const lines = createInterface({ input, output: screen, terminal: true, prompt: "> " });
  onTestFinished(() => lines.close());
  const line = typedLine(lines, screen);
  line.begin();
  const output = collectOutput();
  const about = { gateway, sessionKey: "agent:main:main", output, json, line };
  onTestFinished(printUnaskedReplies(about));
  return { say, output, input, lines };
}

it("prints what a session replies to the end of a child, above the text that is typed", async () => {
  const { say, output, input, lines } = await talking();
  input.write("half a sentence");
  await expect.poll(() => lines.line, SOON).toBe("half a sentence");
  await say(SPAWN);
  await expect.poll(output.out, SOON).toContain("heard: heard: look for it");
  expect(output.errors()).toMatch(/^\(in reply to session subagent:[\w-]+ \("sc\\nout"\)\)\n$/);
  expect(lines.line).toBe("half a sentence");
});

it("prints nothing of other sessions, and a line of JSON where that is wanted", async () => {
  const { say, output } = await talking({ json: true });
  await say(SPAWN, { session: "other" });
  await say(SPAWN);
  await expect.poll(output.out, SOON).toContain("heard: heard: look for it");
  const told = output
    .out()
    .trimEnd()
    .split("\n")
    .map((text) => JSON.parse(text) as object);
  expect(told).toEqual([
    {
      ...{ type: "unasked", outcome: "completed", error: null },
      from: expect.stringMatching(/^agent:main:subagent:/),
      text: "heard: heard: look for it",
    },
  ]);
});

it("comes in a chat whose input goes on, without another message", async () => {
  const home = await temporaryHome();
  const { config } = await obedientModel();
  writeFileSync(join(home, "clew.json"), JSON.stringify(config));
  const chat = startClew(home, ["chat"]);
  chat.process.stdin!.write(`${SPAWN}\n`);
  await expect.poll(() => chat.lines, SOON).toContain("heard: heard: look for it");
  expect(chat.errors()).toMatch(/\(in reply to session subagent:[\w-]+ \("sc\\nout"\)\)/);
  chat.process.stdin!.end();
  expect(await chat.exit).toBe(0);
});
