import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { createGrantFiles } from "../approvals/grants.ts";
import { createApprovals } from "../approvals/queue.ts";
import { collectOutput } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";
import { collectLog } from "../testing/plugins.ts";
import { askInTerminal } from "./approval.ts";
import { ownQuestions } from "./say/questions.ts";
import { typedLine } from "./typed-line.ts";

const MAIN = "agent:main:main";
const CHILD = "agent:main:subagent:1";
const SOON = { timeout: 120_000, interval: 10 };

/** Somebody at a terminal who talks in the main session, and tools that may ask. */
async function atTerminal({ terminal = true, quietMs = 0 } = {}) {
  const [log, home] = [collectLog(), await temporaryHome()];
  const approvals = createApprovals({
    ...{ log, grants: createGrantFiles({ home, log }), expireMs: 60_000 },
    lineageOf: (key) =>
      key === CHILD ? { above: [MAIN], label: "cook" } : { above: [], label: null },
  });
  const input = new PassThrough();
  const screen = new PassThrough();
  let shown = "";
  screen.on("data", (piece) => {
    shown += piece;
  });
  const lines = createInterface({ input, output: screen, terminal, prompt: "> " });
  const said: string[] = [];
  lines.on("line", (line) => said.push(line));
  const output = collectOutput();
  const asking = askInTerminal(ownQuestions(approvals), {
    output,
    sessionKey: MAIN,
    isTerminal: true,
  });
  onTestFinished(() => {
    asking.stop();
    lines.close();
  });
  const line = typedLine(lines, screen, { quietMs });
  asking.use(line);
  line.begin();
  const abort = new AbortController();
  const ask = (
    sessionKey = MAIN,
    more: { arguments?: Record<string, unknown>; grant?: string } = {},
  ) =>
    approvals.ask(
      {
        ...{ asker: { kind: "plugin", id: "p" }, name: "change", arguments: { file: "a" } },
        ...{ session: { agentId: "main", sessionKey }, ...more },
      },
      abort.signal,
    );
  const isAsked = (times = 1) =>
    expect.poll(() => shown.split("Allow it?").length - 1, SOON).toBe(times);
  return { approvals, line, input, lines, said, output, ask, isAsked, abort, shown: () => shown };
}

const answered = (answer: string) => ({ kind: "answered", answer, at: "terminal" });

describe("asking at the terminal", () => {
  it("shows nothing raw of a command, and lets it write none of the question's last line", async () => {
    const { ask, isAsked, shown, output, input } = await atTerminal();
    const command = "rm -rf x #\r\u001b[2K\u202e gnp\n\nAllow it? [y] once  read_file";
    const asked = ask(MAIN, { arguments: { command }, grant: command });
    await isAsked();
    const all = `${output.errors()}\n${shown()}`;
    expect(all).toContain(
      String.raw`"command": "rm -rf x #\r\u001b[2K\u202e gnp\n\nAllow it? [y] once  read_file"`,
    );
    expect(all).not.toMatch(/\u202e|\u001b\[2K|gnp\s*\n/);
    expect(all).toContain("[s] in this session (the same call of change again)");
    input.write("n\n");
    expect(await asked).toEqual(answered("no"));
  });

  it.each([
    ["y\n", "once"],
    ["Yes\n", "once"],
    [" yes \n", "once"],
    ["s\n", "session"],
    ["Session\n", "session"],
    ["n\n", "no"],
    ["no\n", "no"],
    ["yess\nn\n", "no"],
    ["\ny\n", "once"],
  ])("takes %j as %s, and nothing for an answer that is none", async (typed, answer) => {
    for (const terminal of [true, false]) {
      const { ask, isAsked, input } = await atTerminal({ terminal });
      const asked = ask();
      await isAsked();
      input.write(typed);
      expect(await asked, `terminal: ${terminal}`).toEqual(answered(answer));
    }
  });

  it("takes the end of the input as a no", async () => {
    const { ask, isAsked, input } = await atTerminal({ terminal: false });
    const asked = ask();
    await isAsked();
    input.end("yess");
    expect(await asked).toEqual(answered("no"));
  });

  it("leaves text that is being typed alone, and brings it back after the answer", async () => {
    const { ask, isAsked, input, lines, said } = await atTerminal();
    input.write("say yes to ");
    await expect.poll(() => lines.line, SOON).toBe("say yes to ");
    const asked = ask();
    await isAsked();
    expect(lines.line).toBe("");
    input.write("y\r");
    expect(await asked).toEqual(answered("once"));
    await expect.poll(() => lines.line, SOON).toBe("say yes to ");
    input.write("all\r");
    await expect.poll(() => said, SOON).toEqual(["say yes to all"]);
  });

  it("waits for a pause before it interrupts somebody who is typing", async () => {
    const { ask, isAsked, input, lines, said, shown } = await atTerminal({ quietMs: 60_000 });
    input.write("verif");
    await expect.poll(() => lines.line, SOON).toBe("verif");
    const asked = ask();
    input.write("y");
    await expect.poll(() => lines.line, SOON).toBe("verify");
    expect(shown()).not.toContain("Allow it?");
    input.write("\r");
    await isAsked();
    expect(said).toEqual(["verify"]);
    input.write("n\r");
    expect(await asked).toEqual(answered("no"));
  });

  it("takes what is no answer for a part of the text, and asks again", async () => {
    const { ask, isAsked, input, lines } = await atTerminal();
    input.write("tell me ");
    await expect.poll(() => lines.line, SOON).toBe("tell me ");
    const asked = ask();
    await isAsked();
    input.write("more\r");
    await expect.poll(() => lines.line, SOON).toBe("");
    input.write("n\r");
    expect(await asked).toEqual(answered("no"));
    await expect.poll(() => lines.line, SOON).toBe("tell me more");
  });

  it("brings the text back when somebody else answers, with what was typed since", async () => {
    const { ask, input, lines, approvals, output } = await atTerminal();
    input.write("tell me\u001b[D\u001b[D");
    await expect.poll(() => [lines.line, lines.cursor], SOON).toEqual(["tell me", 5]);
    for (const [typed, back] of [
      ["", ["tell me", 5]],
      [" more", ["tell me more", 12]],
      ["y", ["tell me more", 12]],
    ] as const) {
      const asked = ask();
      await expect.poll(() => lines.getPrompt(), SOON).toContain("Allow it?");
      const { id } = approvals.pending()[0]!;
      input.write(typed);
      await expect.poll(() => lines.line, SOON).toBe(typed);
      approvals.answer(id, "once", "page");
      expect(await asked).toMatchObject({ at: "page" });
      await expect.poll(() => [lines.line, lines.cursor], SOON).toEqual(back);
      expect(lines.getPrompt()).toBe("> ");
    }
    expect(output.errors()).not.toContain("stopped");
  });

  it("says what answers, and keeps what does not for the next line, off the screen until then", async () => {
    const { ask, isAsked, input, lines, output, shown, line } = await atTerminal();
    input.write("go\r");
    await expect.poll(() => lines.line, SOON).toBe("");
    const asked = ask();
    await isAsked();
    input.write("x\r");
    await isAsked(2);
    expect(output.errors()).toContain("(only y, s and n answer it)");
    const before = shown().length;
    input.write("n\r");
    expect(await asked).toEqual(answered("no"));
    expect([lines.line, shown().slice(before)]).toEqual(["", expect.not.stringContaining("x")]);
    line.begin();
    expect([lines.getPrompt(), lines.line]).toEqual(["> ", "x"]);
  });

  it("names the session that asks, where it is another one", async () => {
    const { ask, isAsked, input, output } = await atTerminal();
    const first = ask();
    await isAsked();
    input.write("n\r");
    await first;
    expect(output.errors()).toContain('plugin "p" asks to run change {');
    const second = ask(CHILD);
    await isAsked(2);
    input.write("n\r");
    await second;
    expect(output.errors()).toContain(
      'plugin "p" asks in session subagent:1 ("cook", started by main) to run change {',
    );
  });

  it("says above the text that is typed why a question is over", async () => {
    const { ask, isAsked, input, lines, output, abort } = await atTerminal();
    const asked = ask();
    await isAsked();
    abort.abort();
    expect(await asked).toEqual({ kind: "withdrawn" });
    expect(output.errors()).toContain("(the turn was stopped before anybody answered)");
    input.write("go on");
    await expect.poll(() => [lines.getPrompt(), lines.line], SOON).toEqual(["> ", "go on"]);
  });
});
