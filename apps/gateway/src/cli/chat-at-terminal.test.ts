import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createSessionStore } from "../sessions/store.ts";
import { startClew } from "../testing/command.ts";
import { heldModel } from "../testing/held-model.ts";
import { homeWithOwnPort, temporaryHome } from "../testing/home.ts";
import { obedientModel, obey, run } from "../testing/obedient-model.ts";
import { chatInTmux, hasTmux, steady } from "../testing/tmux.ts";

const WRITE = run("write_file", { path: "a.txt", content: "one" });

/** A home whose model does what it is told; tools that write ask. */
async function homeOf(more: Record<string, unknown> = {}, answers = obey) {
  const home = await homeWithOwnPort();
  const { config } = await obedientModel({}, answers);
  const workspace = await temporaryHome();
  const file = join(home, "clew.json");
  const { gateway } = JSON.parse(await readFile(file, "utf8"));
  const agents = { defaults: { ...config.agents.defaults, workspace } };
  await writeFile(
    file,
    JSON.stringify({ ...config, agents, gateway, tools: { write: "ask" }, ...more }),
  );
  return { home, workspace };
}

async function started(home: string, options: Parameters<typeof chatInTmux>[1] = {}) {
  const chat = chatInTmux(home, options);
  await chat.shows("Ctrl-D quits");
  await chat.shows(/^emulated/m);
  return chat;
}

/** What is seen becomes the screen that is kept under this name, and stays it. */
async function becomes(seen: () => string, name: string): Promise<void> {
  const file = join(import.meta.dirname, "__fixtures__/screens", `${name}.txt`);
  const kept = await readFile(file, "utf8").catch(() => null);
  const settled = { timeout: 20_000, interval: 50 };
  // One that never does is shown beside what is kept.
  await expect
    .poll(() => steady(seen()) === kept, settled)
    .toBe(true)
    .catch(() => {});
  await expect(steady(seen())).toMatchFileSnapshot(file);
}

describe.runIf(hasTmux)("a chat at a terminal", () => {
  it("sends 200 pasted lines as one message", async () => {
    const { home } = await homeOf();
    const chat = await started(home);
    chat.paste(Array.from({ length: 200 }, (_, index) => `line ${index + 1}`).join("\n"));
    await chat.shows("line 200");
    await becomes(chat.screen, "pasted");
    chat.press("Enter");
    await chat.shows("heard: line 200");
    await chat.shows("for 1 call");
    await becomes(chat.all, "sent");
    const folder = join(home, "agents/main/sessions");
    const [file] = (await readdir(folder)).filter((name) => name.endsWith(".jsonl"));
    const users = (await readFile(join(folder, file!), "utf8")).match(/"role":"user"/g);
    expect(users).toHaveLength(1);
  });

  it("clears the line at Ctrl-C, then asks, then leaves with its terminal as it was", async () => {
    const { home } = await homeOf();
    const chat = await started(home);
    chat.type("delete everything");
    await chat.shows("> delete everything");
    chat.press("C-c");
    await chat.shows("Cleared");
    chat.press("C-c");
    await chat.shows("Ctrl-C once more leaves");
    await becomes(chat.screen, "leaving");
    chat.press("C-c");
    expect(await chat.ended()).toBe(0);
  });

  it("has its history again after a restart, and finds in it", async () => {
    const { home } = await homeOf();
    const first = await started(home);
    for (const text of ["the first words", "other words"]) {
      first.type(text);
      first.press("Enter");
      await first.shows(`heard: ${text}`);
    }
    first.press("C-d");
    expect(await first.ended()).toBe(0);
    const second = await started(home);
    // What was said last is seen again.
    await second.shows("heard: other words");
    second.press("Up");
    await second.shows(/> other words\n.*emulated/);
    second.press("C-c");
    second.press("C-r");
    second.type("FIRST");
    await second.shows("search: FIRST  the first words");
    second.press("Enter");
    await second.shows(/> the first words\n.*emulated/);
    await becomes(second.screen, "history");
  });

  it("lists all commands and keys at /help, and answers a bare /session", async () => {
    const { home } = await homeOf();
    const chat = await started(home, { rows: 60 });
    chat.type("/help");
    chat.press("Enter");
    await chat.shows("In this terminal:");
    for (const told of ["/status", "/session", "/edit", "/quit", "Esc", "Ctrl-O", "Ctrl-R"])
      await chat.shows(told);
    chat.type("/session");
    chat.press("Enter");
    await chat.shows("This is session main;");
  });

  it("completes commands, files and sessions", async () => {
    const { home, workspace } = await homeOf();
    await writeFile(join(workspace, "ünique-notes.txt"), "x");
    const chat = await started(home);
    chat.type("/s");
    chat.press("Tab");
    await chat.shows(/\/status +model, engine/);
    await becomes(chat.screen, "completion");
    chat.press("Escape");
    chat.press("C-u");
    chat.type("look at @ün");
    chat.press("Tab");
    await chat.shows("look at @ünique-notes.txt");
  });

  it("cancels a reply at Esc, and keeps what is typed meanwhile apart", async () => {
    const { home } = await homeOf();
    const chat = await started(home);
    chat.type("HANG");
    chat.press("Enter");
    await chat.shows("Esc stops");
    chat.type("typed ahead");
    await chat.shows("> typed ahead");
    await becomes(chat.screen, "running");
    chat.press("Escape");
    await chat.shows("(stopped; what had arrived was kept)");
    await chat.showsNot("Esc stops");
    await chat.shows(/> typed ahead\n.*emulated/);
  });

  it("asks before a tool changes something, takes the answer, and folds what it did", async () => {
    const { home, workspace } = await homeOf();
    const chat = await started(home);
    chat.type(WRITE);
    chat.press("Enter");
    await chat.shows("Allow it?");
    await becomes(chat.screen, "asking");
    chat.type("y");
    chat.press("Enter");
    await chat.shows("result: Made a.txt");
    expect(await readFile(join(workspace, "a.txt"), "utf8")).toBe("one");
    chat.press("C-o");
    await chat.shows("Enter opens");
    chat.press("Up", "Enter");
    await chat.shows('"content": "one"');
    await becomes(chat.screen, "opened");
    chat.press("q");
    await chat.showsNot("Enter opens");
  });

  it("stays whole at 40 columns, with wide characters and whatever steers a terminal", async () => {
    const { home } = await homeOf();
    const chat = await started(home);
    chat.paste(
      "漢字かな交じり文 and emoji 🎉❤️ \u001b[31mred\u202e and more words that have to go on below",
    );
    await chat.shows("below");
    chat.resize(40, 24);
    await chat.shows(/^emulated.* · 0 %$/m);
    await becomes(chat.screen, "narrow");
    chat.press("Enter");
    await chat.shows("heard:");
    await chat.shows(/^emulated.* · no price for 1 call$/m);
    await becomes(chat.screen, "narrow-sent");
  });

  it("leaves no row behind when its terminal gets narrow and wide again", async () => {
    const { home } = await homeOf();
    const chat = await started(home, { columns: 100 });
    chat.type("/help");
    chat.press("Enter");
    await chat.shows("//text");
    chat.paste(`a${"漢字かな交じり文".repeat(8)}`);
    await chat.shows(/漢字かな交じり文\nemulated/);
    const last = () => chat.screen().trimEnd().split("\n").slice(-10).join("\n");
    const wide = steady(last());
    for (const columns of [40, 39]) {
      chat.resize(columns, 24);
      await chat.shows(/^emulated\/emulated · legacy · 0 %$/m);
      await becomes(last, `wide-at-${columns}`);
      chat.resize(100, 24);
      await expect.poll(() => steady(last()), { timeout: 60_000 }).toBe(wide);
    }
  });

  it("leaves nothing behind when its terminal changes often while a reply is written", async () => {
    const lines = Array.from({ length: 24 }, (_, index) => `- ${index} ${"words ".repeat(14)}end`);
    const answer = { text: lines.join("\n"), chunkChars: 340, pauseMs: 1000 };
    const { home } = await homeOf({}, () => answer);
    const chat = await started(home, { columns: 100 });
    chat.type("go on");
    chat.press("Enter");
    const sizes = [
      [60, 12],
      [40, 30],
      [80, 9],
      [50, 24],
      [90, 14],
      [100, 24],
    ] as const;
    for (const seen of ["• 3 words", "• 11 words"]) {
      await chat.shows(seen);
      for (const [columns, rows] of sizes) {
        chat.resize(columns, rows);
        await delay(70);
      }
    }
    await chat.shows(/^• 23 [^>·]*^>\nemulated/m);
    const bare = (text: string) => text.replace(/\s/g, "");
    const told = lines.map((line) => line.replace("-", "•")).join("");
    expect(bare(chat.all())).toContain(bare(`> go on ${told} > emulated/emulated`));
  });

  it("goes through the gateway of its home, and ends without ending what runs there", async () => {
    const { home } = await homeOf();
    const gateway = startClew(home, ["start"]);
    await gateway.nextLine();
    const chat = await started(home);
    await chat.shows("through the gateway at http://127.0.0.1:");
    chat.type("hello");
    chat.press("Enter");
    await chat.shows("heard: hello");
    await chat.shows(/for 1 call · .*ms$/m);
    chat.type(WRITE);
    chat.press("Enter");
    await chat.shows("Allow it?");
    await becomes(chat.screen, "asking-gateway");
    chat.type("n");
    chat.press("Enter");
    await chat.shows(/^✗ write_file .* refused after \d/m);
    chat.type("/status");
    chat.press("Enter");
    await chat.shows("Lifecycle: eager");
    chat.press("C-d");
    expect(await chat.ended()).toBe(0);
    const again = await started(home);
    await again.shows(/^✗ write_file .* refused$/m);
    gateway.process.kill("SIGTERM");
    await gateway.exit;
  });

  it("goes on when its gateway was away", async () => {
    const { home } = await homeOf();
    const gateway = startClew(home, ["start"]);
    await gateway.nextLine();
    const chat = await started(home);
    gateway.process.kill("SIGTERM");
    await gateway.exit;
    await chat.shows("The gateway does not answer");
    chat.type("are you there?");
    chat.press("Enter");
    await chat.shows("waits: are you there?");
    const again = startClew(home, ["start"]);
    await again.nextLine();
    await chat.shows("heard: are you there?");
    again.process.kill("SIGTERM");
    await again.exit;
  });

  it.each(["SIGKILL", "SIGTERM"] as const)(
    "says once what waited when its gateway ended by %s, and shows what it missed",
    async (signal) => {
      const { config, asked } = await heldModel();
      const { home } = await homeOf({ ...config });
      const gateway = startClew(home, ["start"]);
      await gateway.nextLine();
      const [one, other] = [await started(home), await started(home)];
      one.type("the first");
      one.press("Enter");
      const first = await asked();
      first.say("so far ");
      await other.shows("so far");
      other.type("only once");
      other.press("Enter");
      await other.shows("waits: only once");
      gateway.process.kill(signal);
      await gateway.exit;
      await other.shows("The gateway does not answer");
      const again = startClew(home, ["start"]);
      await again.nextLine();
      const second = await asked();
      second.say("heard once");
      second.finish();
      for (const chat of [one, other]) await chat.shows(/> only once[\s\S]*heard once/);
      await other.showsNot("waits: ");
      for (const chat of [one, other])
        for (const words of [/only once/g, /heard once/g])
          expect(chat.all().match(words)).toHaveLength(1);
      again.process.kill("SIGTERM");
      await again.exit;
      const branch = (await createSessionStore({ home }).read("main"))!.branch;
      expect(JSON.stringify(branch).match(/only once/g)).toHaveLength(1);
    },
  );

  it("writes a message in the person's editor", async () => {
    const { home } = await homeOf();
    const editor = join(home, "editor.sh");
    await writeFile(editor, '#!/bin/sh\nprintf "from the\\neditor\\n" >> "$1"\n', { mode: 0o755 });
    const chat = await started(home, { env: { EDITOR: editor } });
    chat.type("/edit ");
    chat.press("Enter");
    await chat.shows("editor");
    chat.press("Enter");
    await chat.shows("heard: editor");
  });

  it("says when the editor fails, and keeps the message as it was", async () => {
    const { home } = await homeOf();
    const chat = await started(home, { env: { VISUAL: "false" } });
    chat.type("/edit draft");
    chat.press("Enter");
    await chat.shows('The editor "false" ended with 1; the message is as it was.');
  });

  it("says in one sentence what keeps it from beginning", async () => {
    const { home } = await homeOf();
    const chat = chatInTmux(home, { args: ["--model", "nope"] });
    expect(await chat.ended()).not.toBe(0);
    expect(chat.all()).toContain('--model "nope"');
    expect(chat.all()).not.toContain("ZodError");
  });
});
