import { appendFile, mkdir, readdir, readFile, symlink, utimes, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, join, relative } from "node:path";
import { describe, expect, it } from "vitest";
import { callersFolder } from "../config/callers-folder.ts";
import { checkSessions } from "../doctor/check-sessions.ts";
import { lockOfSession } from "../imports/draft-files.ts";
import { openForeign } from "../imports/open-foreign.ts";
import { temporaryFolder, writeLines } from "../imports/testing/import-world.ts";
import {
  asLines,
  CHAT,
  CLAUDE,
  CLAUDE_KEY,
  CODEX,
  CODEX_KEY,
  claudeReply,
  claudeUser,
  PI,
} from "../imports/testing/transcripts.ts";
import { acquireLock } from "../locks/lock.ts";
import { createSessionStore } from "../sessions/store.ts";
import { clew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";

const importJson = async (home: string, ...args: string[]) => {
  const { code, output } = await clew(home, ["sessions", "import", ...args, "--json"]);
  return { code, ...JSON.parse(output) };
};
const more = [
  claudeUser("u4", "One more thing.", { parent: "a7" }),
  claudeReply("a8", "msg_8", [{ type: "text", text: "Yes?" }], { parent: "u4" }),
];

describe("clew replay of another program's transcript", () => {
  it("is refused where it holds no turn when read as it is said to be", async () => {
    const file = await writeLines(await temporaryFolder(), "a.jsonl", CLAUDE);
    const home = await temporaryHome();
    const { code, errors } = await clew(home, ["replay", file, "--from", "codex"]);
    expect([code, errors]).toEqual([
      2,
      expect.stringContaining("holds no turn, read as a transcript of codex"),
    ]);
  });
});

describe("clew sessions import", () => {
  it("refuses a file whose letters are not UTF-8, in lines or as a whole, and goes on with others", async () => {
    const home = await temporaryHome();
    const folder = await temporaryFolder();
    const whole = JSON.stringify([{ role: "user", content: "Grüße" }], null, 1);
    await writeFile(join(folder, "whole.json"), Buffer.from(whole, "latin1"));
    const lines = asLines([claudeUser("u0", "first"), claudeUser("u1", "schön")]);
    await writeFile(join(folder, "lines.jsonl"), Buffer.from(lines, "latin1"));
    await writeFile(join(folder, "other.json"), Buffer.from('{"of":"Köln"}', "latin1"));
    await writeLines(folder, "right.jsonl", CODEX);
    const { code, failed, imported, passedOver } = await importJson(home, folder);
    expect([code, failed]).toEqual([
      1,
      [
        ["lines.jsonl", 2],
        ["whole.json", 4],
      ].map(([name, line]) => ({
        file: join(folder, String(name)),
        error: expect.stringContaining(
          `${name} cannot be read: line ${line} is not written in UTF-8; convert the file, e.g. from Latin-1 with "iconv -f ISO-8859-1 -t UTF-8".`,
        ),
      })),
    ]);
    expect([imported.length, passedOver]).toEqual([1, 1]);
    const { output } = await clew(home, ["sessions", "list", "--json"]);
    expect(JSON.parse(output).sessions).toHaveLength(1);
    const replayed = await clew(home, ["replay", join(folder, "lines.jsonl")]);
    expect([replayed.code, replayed.errors]).toEqual([
      1,
      expect.stringContaining("line 2 is not written in UTF-8"),
    ]);
  });

  it("takes in a transcript with its subagents, which are listed below it", async () => {
    const home = await temporaryHome();
    const file = await writeLines(await temporaryFolder(), "anything.txt", CLAUDE);
    const { code, imported } = await importJson(home, file);
    expect(code).toBe(0);
    expect(imported).toMatchObject([
      {
        ...{ file, from: "claude-code", tally: { lines: CLAUDE.length, damaged: [] } },
        sessions: [
          { key: `agent:main:${CLAUDE_KEY}`, state: "imported", parent: null, messages: 13 },
          { state: "imported", parent: `agent:main:${CLAUDE_KEY}`, messages: 2 },
        ],
      },
    ]);
    const { output } = await clew(home, ["sessions", "list", "--json"]);
    expect(JSON.parse(output).sessions).toMatchObject([
      { key: `agent:main:${CLAUDE_KEY}`, depth: 0 },
      { depth: 1, child: { task: "Count the files.", state: "completed" } },
    ]);
    const shown = await clew(home, ["sessions", "show", CLAUDE_KEY]);
    expect(shown.output).toContain("What is in a and b?");
    expect(shown.output).not.toContain("Roses.");
  });

  it("makes no session of a file in which nobody says anything", async () => {
    const home = await temporaryHome();
    const file = await writeLines(await temporaryFolder(), "a.json", [{ messages: [] }]);
    const { output, errors, code } = await clew(home, [
      ...["sessions", "import", file, "--from", "codex"],
    ]);
    expect(output).toContain("nothing was said in it (codex): kept as records");
    expect({ code, errors }).toEqual({ code: 2, errors: "Nothing was imported." });
    const listed = await clew(home, ["sessions", "list", "--json"]);
    expect(JSON.parse(listed.output).sessions).toEqual([]);
  });

  it("says that it knows a file, and brings what has been added to it", async () => {
    const home = await temporaryHome();
    const file = await writeLines(await temporaryFolder(), "a.jsonl", CLAUDE);
    await importJson(home, file);
    const known = await importJson(home, file);
    expect(known.imported[0].sessions).toMatchObject([
      { state: "known", added: 0 },
      { state: "known", added: 0 },
    ]);
    await appendFile(file, asLines(more));
    const grown = await importJson(home, file);
    expect(grown.imported[0].sessions).toMatchObject([
      { state: "grown", added: 2 },
      { state: "known" },
    ]);
    const session = await createSessionStore({ home }).read(CLAUDE_KEY);
    expect(session!.branch.at(-1)).toMatchObject({ message: { stopReason: "stop" } });
    const { output } = await clew(home, ["doctor", "--json"]);
    expect(output).not.toMatch(/needs repair|unreadable/);
  });

  it("leaves a session alone that went on here, or holds something else", async () => {
    const home = await temporaryHome();
    const folder = await temporaryFolder();
    const file = await writeLines(folder, "a.jsonl", CLAUDE);
    await importJson(home, file);
    expect((await clew(home, ["chat", "--session", CLAUDE_KEY, "hello"])).code).toBe(0);
    const before = (await createSessionStore({ home }).read(CLAUDE_KEY))!.branch.length;
    await appendFile(file, asLines(more));
    const { code, failed } = await importJson(home, file);
    expect(code).toBe(1);
    expect(failed[0].error).toMatch(/went on here.*--session.*\[REQUEST_INVALID\]/);
    expect((await createSessionStore({ home }).read(CLAUDE_KEY))!.branch).toHaveLength(before);
    const other = await writeLines(folder, "b.jsonl", CODEX);
    expect((await importJson(home, other, "--session", CLAUDE_KEY)).code).toBe(1);
    expect((await importJson(home, file, "--session", "again")).code).toBe(0);
  });

  it("takes in all that a folder and its folders hold, and no link", async () => {
    const [home, folder] = [await temporaryHome(), await temporaryFolder()];
    const deep = join(folder, "2026/02/03");
    await mkdir(deep, { recursive: true });
    await writeLines(deep, "rollout-1.jsonl", CODEX);
    await writeLines(folder, "pi.jsonl", PI);
    await writeFile(join(folder, "chat.json"), JSON.stringify(CHAT, null, 2));
    await writeFile(join(folder, "package.json"), '{"name":"x"}');
    await writeFile(join(folder, "sessions.json"), "{}");
    await symlink(join(deep, "rollout-1.jsonl"), join(folder, "link.jsonl"));
    const { code, imported, passedOver } = await importJson(home, folder);
    expect(code).toBe(0);
    expect(passedOver).toBe(3);
    expect(imported.map(({ sessions }: never) => (sessions as { key: string }[])[0]!.key)).toEqual(
      [CODEX_KEY, "openai:chat", "pi:pi-1"].map((key) => `agent:main:${key}`),
    );
  });

  it("tells what an OpenClaw store calls a session", async () => {
    const [home, folder] = [await temporaryHome(), await temporaryFolder()];
    const store = { "agent:main:telegram:7": { sessionId: "pi-1", updatedAt: 1 } };
    await writeFile(join(folder, "sessions.json"), JSON.stringify(store));
    await writeLines(folder, "pi-1.jsonl", PI);
    const { imported } = await importJson(home, folder);
    expect(imported[0].sessions).toMatchObject([
      { key: "agent:main:pi:pi-1", title: "agent:main:telegram:7" },
    ]);
  });

  it.each([
    ["no file", ["nowhere.jsonl"], /nothing at .*nowhere.jsonl.*FILE_NOT_FOUND/, 1],
    ["no transcript", ["plain.txt"], /is no transcript of Claude Code.*--from/, 1],
    ["another program's name", ["a.jsonl", "--from", "cursor"], /cursor.*claude-code/s, 2],
    ["a name that is none", ["a.jsonl", "--session", "agent:"], /not a session name/, 2],
    ["one name for two files", ["a.jsonl", "b.jsonl", "--session", "x"], /2 files/, 2],
  ])("says in a sentence what is wrong with %s", async (_what, args, sentence, code) => {
    const [home, folder] = [await temporaryHome(), await temporaryFolder()];
    await writeLines(folder, "a.jsonl", CLAUDE);
    await writeLines(folder, "b.jsonl", CODEX);
    await writeFile(join(folder, "plain.txt"), "Dear diary\n");
    const given = args.map((each) => (/\.(?:jsonl|txt)$/.test(each) ? join(folder, each) : each));
    const result = await clew(home, ["sessions", "import", ...given]);
    expect(result.errors).toMatch(sentence);
    expect(result.code).toBe(code);
    expect(await createSessionStore({ home }).list()).toEqual([]);
  });

  it("keeps what strangers call their sessions within its own names", async () => {
    const [around, folder] = [await temporaryFolder(), await temporaryFolder()];
    const home = join(around, "home");
    const evil = { sessionId: "../../../outside\u001b[31m", cwd: "../../etc" };
    const side = { isSidechain: true, agentId: "../../../agents/x" };
    const file = await writeLines(folder, "evil.jsonl", [
      { ...claudeUser("../u1", "One."), ...evil },
      { ...claudeUser("../s1", "Help.", side), ...evil },
    ]);
    const { code, imported } = await importJson(home, file);
    expect(code).toBe(0);
    for (const { key } of imported[0].sessions)
      expect(key).toMatch(/^agent:main:(?:claude-code:-outside-31m-[0-9a-f]{6}|subagent:[\w-]+)$/);
    expect(await readdir(around)).toEqual(["home"]);
    const names = await readdir(join(home, "agents/main"), { recursive: true });
    expect(names.filter((name) => name.endsWith(".jsonl"))).toHaveLength(2);
    expect(names.join("\n")).not.toMatch(/outside|import-/);
  });

  it("names damaged lines by their numbers, and lines above the limit", async () => {
    const [home, folder] = [await temporaryHome(), await temporaryFolder()];
    const file = join(folder, "a.jsonl");
    await writeFile(file, `${asLines(CLAUDE)}{ broken\n\n${"x".repeat(9000)}\n{"last`);
    const { output } = await clew(home, ["sessions", "import", file]);
    const first = CLAUDE.length + 1;
    expect(output).toContain(`no JSON: lines ${first}, ${first + 2}, ${first + 3}`);
    const foreign = await openForeign(file, { maxLineBytes: 8000 });
    for await (const _entry of foreign!.entries());
    expect(foreign!.tally).toMatchObject({
      ...{ damaged: [first, first + 3], tooLong: [first + 2], blank: 1 },
    });
  });

  it("makes one session of one file that is imported four times at once", async () => {
    const [home, folder] = [await temporaryHome(), await temporaryFolder()];
    const file = await writeLines(folder, "a.jsonl", CLAUDE);
    const once = () => importJson(home, file, "--session", "same");
    const all = await Promise.all([once(), once(), once(), once()]);
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    const states = all.map(({ imported }) => imported[0].sessions[0].state);
    expect(states.sort()).toEqual(["imported", "known", "known", "known"]);
    const names = (await createSessionStore({ home }).list()).map(({ key }) => key);
    expect(names.filter((key) => !key.includes("subagent"))).toEqual(["agent:main:same"]);
    expect(names).toHaveLength(2);
    const left = await readdir(join(home, "agents/main/sessions"));
    expect(left.filter((name) => /import-|lock/.test(name))).toEqual([]);
  });

  it("finds what killed imports left half written, and removes it, but of no running one", async () => {
    const [home, folder] = [await temporaryHome(), await temporaryFolder()];
    const sessions = join(home, "agents/main/sessions");
    await mkdir(sessions, { recursive: true });
    const draft = (digit: string) =>
      join(sessions, `s.jsonl.import-${"00000000-0000-4000-8000-00000000000"}${digit}`);
    const gone = { token: "gone", pid: 2 ** 22 + 1, started: "once", host: hostname(), since: "" };
    const leave = async () => {
      await writeFile(draft("1"), "what was said");
      await writeFile(`${draft("1")}.lock`, JSON.stringify(gone));
      await writeFile(lockOfSession(sessions, "agent:main:s"), JSON.stringify(gone));
      await writeFile(draft("2"), "of an older Clew");
      await utimes(draft("2"), 1, 1);
    };
    await writeFile(draft("3"), "running");
    await acquireLock(`${draft("3")}.lock`);
    const running = [draft("3"), `${draft("3")}.lock`].map((file) => basename(file));
    await leave();
    const looked = await checkSessions({ home, fix: false });
    expect(looked.map(({ text }) => text)).toContain(
      `4 files of imports that were killed in ${sessions}; run "clew doctor --fix"`,
    );
    await checkSessions({ home, fix: true });
    expect((await readdir(sessions)).sort()).toEqual(running);
    await leave();
    await importJson(home, await writeLines(folder, "a.jsonl", PI));
    const left = (await readdir(sessions)).filter((name) => name.includes("import-"));
    expect(left.sort()).toEqual(running);
  });

  it("leaves nothing behind of an import that fails", async () => {
    const [home, folder] = [await temporaryHome(), await temporaryFolder()];
    const file = await writeLines(folder, "a.jsonl", PI);
    const held = await createSessionStore({ home }).open({ key: "pi:pi-1", cwd: "/" });
    await held.append([{ type: "message", message: { role: "user", content: "Mine." } }]);
    const { code, failed } = await importJson(home, file);
    expect(code).toBe(1);
    expect(failed[0].error).toMatch(/SESSION_LOCKED/);
    await held.close();
    const names = await readdir(join(home, "agents/main/sessions"));
    expect(names.filter((name) => name.includes("import-"))).toEqual([]);
    expect(await readFile(held.session.sessionFile, "utf8")).toContain("Mine.");
  });
});

describe("transcripts of other programs", () => {
  it.each([
    ["Claude Code", CLAUDE, 3],
    ["Codex", CODEX, 3],
    ["OpenAI", CHAT, 1],
  ])(
    "can be replayed and compared: %s",
    async (_who, values, turns) => {
      const [home, folder] = [await temporaryHome(), await temporaryFolder()];
      const file = await writeLines(folder, "foreign.jsonl", values);
      const played = await clew(home, ["replay", relative(process.cwd(), file), "--json"]);
      expect(played.code).toBe(0);
      expect(JSON.parse(played.output)).toMatchObject({ file });
      expect(JSON.parse(played.output).turns).toBe(turns);
      const compared = await clew(home, ["compare", file, "--engines", "legacy", "--json"]);
      expect(compared.code).toBe(0);
      expect(JSON.parse(compared.output).figures).toHaveLength(1);
    },
    30_000,
  );

  it("cannot be replayed where a file holds several", async () => {
    const [home, folder] = [await temporaryHome(), await temporaryFolder()];
    const file = await writeLines(folder, "many.jsonl", [{ messages: CHAT }, { messages: CHAT }]);
    const { code, errors } = await clew(home, ["replay", file]);
    expect(errors).toMatch(/holds 2 conversations; import it/);
    expect(code).toBe(2);
  });
});

describe("a path on the command line", () => {
  it("is the caller's where npm moved to the package, and else the command's own", () => {
    const npm = { npm_package_json: "/repo/package.json", INIT_CWD: "/home/ada" };
    expect(callersFolder(npm, "/repo")).toBe("/home/ada");
    expect(callersFolder(npm, "/repo/apps/gateway")).toBe("/repo/apps/gateway");
    expect(callersFolder({ INIT_CWD: "/home/ada" }, "/repo")).toBe("/repo");
    expect(callersFolder({}, "/repo")).toBe("/repo");
  });
});
