// What is forgotten stands nowhere below the home, and does not come back.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createOpenAIEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { startChild } from "../testing/child.ts";
import { clew as runIn, startClew } from "../testing/command.ts";
import { emulatedModel } from "../testing/gateway.ts";
import { temporaryHome } from "../testing/home.ts";
import { obedientModel, run } from "../testing/obedient-model.ts";
import { startPluginGateway, startServedGateway } from "../testing/plugins.ts";
import type { Journal } from "./journal.ts";
import { journalFile } from "./journal-file.ts";
import { resumeForgetting, runForgetting } from "./run.ts";

const SECRET = 'Zanzibärquux "4711"';
/** Stands in every form of it, whatever is escaped. */
const TRACE = "anzib";
const NOTES = `First line.\n${`The code of the safe is ${SECRET}.\n`.repeat(200)}`;

/** A model that reads the notes when it is asked to, and says what stands in them. */
async function readingModel(compress: boolean) {
  const server = await createOpenAIEmulator({
    answers: ({ body }) => {
      const { messages } = body as { messages: { role: string; content: unknown }[] };
      const newest = messages.at(-1)!;
      if (newest.role === "tool") return { text: `The notes say ${SECRET}.` };
      return JSON.stringify(newest).includes("Read the notes")
        ? {
            toolCalls: [
              { id: `call${messages.length}`, name: "read_file", arguments: { path: "notes.txt" } },
            ],
          }
        : { text: "noted" };
    },
  });
  onTestFinished(() => server.close());
  return {
    ...emulatedModel(server.baseUrl, { contextWindow: 24_000 }),
    plugins: {
      slots: { contextEngine: "lossless" },
      entries: { lossless: { config: { compress, summaries: "code" } } },
    },
  };
}

/** Several sessions in which the secret was said, read and answered, among much else. */
async function homeWithSecret({ compress = false, turns = 20, isQuoted = true } = {}) {
  const home = await temporaryHome();
  const config = await readingModel(compress);
  writeFileSync(join(home, "clew.json"), JSON.stringify(config));
  const workspace = join(home, "agents/main/workspace");
  mkdirSync(workspace, { recursive: true });
  writeFileSync(join(workspace, "notes.txt"), NOTES);
  const { say, gateway, leave } = await startServedGateway(config, home);
  const clew = (...args: string[]) => runIn(home, args);
  for (let turn = 0; turn < turns; turn++)
    await say(`Log entry ${turn}. ${`Wind ${turn} from the west. `.repeat(80)}`);
  await say("Read the notes, please.");
  await say(`Remember: ${SECRET}.`);
  for (let turn = 0; turn < turns; turn++)
    await say(`Log entry ${turn + turns}. ${`Rain ${turn} from the south. `.repeat(80)}`);
  const quote = `Somebody said elsewhere: ${SECRET}. What is that?`;
  if (isQuoted) await gateway.send({ key: "side", content: quote });
  await say("/compact");
  await leave();
  return { home, config, clew, workspace };
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));

/** Files below it that hold the secret in any form that is not compressed. */
const holding = (folder: string): string[] =>
  filesBelow(folder).filter((file) => readFileSync(file, "latin1").includes(TRACE));

const transcriptsOf = (home: string) =>
  readdirSync(join(home, "agents/main/sessions"))
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => join(home, "agents/main/sessions", name));

describe("clew lossless forget", () => {
  it("leaves what became of each entry in each call, and says which it cannot make again", async () => {
    const { home, clew } = await homeWithSecret({ turns: 6, isQuoted: false });
    const told = async () => JSON.parse((await clew("inspect", "main", "--json")).output).calls;
    const before = await told();
    const dry = await clew("lossless", "forget", "--text", SECRET);
    expect(dry.output).toMatch(/\d+ model calls of session \S+ of main \(7\.2 to [\d.]+\) had/);
    const done = await clew("lossless", "forget", "--text", SECRET, "--yes");
    expect(done.output).toMatch(/\(7\.2 to [\d.]+\) had been sent it/);
    const after = await told();
    const factsOf = (calls: { id: string; fates: object; lost: null }[]) =>
      calls.map(({ id, fates, lost }) => ({ id, fates, lost }));
    expect(factsOf(after)).toEqual(factsOf(before));
    const requestOf = async (id: string) =>
      JSON.parse((await clew("inspect", "main", "--call", id, "--request", "--json")).output);
    expect(await requestOf("3.1")).toMatchObject({ isSame: true });
    const lost = await requestOf(after.at(-1).id);
    expect(lost).toMatchObject({ isSame: false, why: expect.stringContaining("forgotten") });
    expect((await clew("doctor")).output).not.toContain("cannot be read");
    expect(holding(join(home, "agents/main/reports"))).toEqual([]);
  });

  it.each([false, true])(
    "leaves no byte of it below the home, and it does not come back by any import (compressed: %s)",
    async (compress) => {
      const { home, config, clew, workspace } = await homeWithSecret({ compress });
      expect((await clew("lossless", "backup")).code).toBe(0);
      expect((await clew("lossless", "backup", "--to", join(home, "kept"))).code).toBe(0);
      const [copies, outside] = [await temporaryHome(), await temporaryHome()];
      expect((await clew("lossless", "backup", "--to", outside)).code).toBe(0);
      for (const [at, file] of transcriptsOf(home).entries()) {
        cpSync(file, join(copies, `copy${at}.jsonl`));
        // What a repair keeps of a damaged file.
        cpSync(file, `${file}.removed-2026-01-01T00-00-00-000Z`);
      }
      expect(holding(home).length).toBeGreaterThan(6);
      expect(holding(copies).length).toBeGreaterThan(0);

      const before = filesBelow(home).map((file) => readFileSync(file, "latin1"));
      const dry = await clew("lossless", "forget", "--text", SECRET);
      expect(dry.output).toContain("Nothing was changed");
      expect(dry.output).toContain("a tool call goes with its results");
      expect(filesBelow(home).map((file) => readFileSync(file, "latin1"))).toEqual(before);

      const left = await clew("lossless", "forget", "--text", SECRET, "--yes");
      expect(left).toMatchObject({ code: 1, output: expect.stringContaining("notes.txt") });
      expect(holding(home)).toEqual([join(workspace, "notes.txt")]);
      rmSync(join(workspace, "notes.txt"));

      const verified = await clew("lossless", "verify");
      expect(verified).toMatchObject({ code: 0, output: expect.stringContaining("5 forgotten") });
      for (const [at, file] of readdirSync(copies).entries())
        await clew("lossless", "import", join(copies, file), "--session", `copy${at}`);
      expect(holding(home)).toEqual([]);

      const [old] = filesBelow(outside);
      const restored = await clew("lossless", "restore", old!);
      expect(restored).toMatchObject({
        ...{ code: 0, output: expect.stringContaining("5 messages that were forgotten since") },
      });
      expect(holding(home)).toEqual([]);
      expect((await clew("lossless", "verify")).code).toBe(0);
      for (const [at, file] of readdirSync(copies).entries())
        await clew("lossless", "import", join(copies, file), "--session", `again${at}`);
      expect(holding(home)).toEqual([]);

      const again = await startPluginGateway(config, home);
      await again.say("What did I say?");
      await again.stop();
      expect(holding(home)).toEqual([]);
      rmSync(join(home, "agents/main/clew-lossless"), { recursive: true });
      const refilled = await startPluginGateway(config, home);
      expect((await refilled.say("And now?")).outcome).toBe("completed");
      await refilled.stop();
      expect(holding(home)).toEqual([]);
      expect((await clew("lossless", "verify")).code).toBe(0);
      expect((await clew("doctor")).output).not.toContain("damaged");
    },
    120_000,
  );

  it("takes a whole session, with its file, name, reports and rows", async () => {
    const { home, clew, workspace } = await homeWithSecret({ turns: 2, isQuoted: false });
    rmSync(workspace, { recursive: true });
    const done = await clew("lossless", "forget", "--session", "main", "--yes");
    expect(done).toMatchObject({ code: 0 });
    expect(holding(home)).toEqual([]);
    expect(transcriptsOf(home)).toEqual([]);
    const bytes = filesBelow(home)
      .map((file) => readFileSync(file, "latin1"))
      .join();
    expect(bytes).not.toContain("agent:main:main");
    expect(bytes).not.toContain("Log entry");
    expect((await clew("lossless", "verify")).code).toBe(0);
    expect(await clew("lossless", "forget", "--session", "main", "--yes")).toMatchObject({
      code: 1,
      errors: expect.stringContaining("There is no session"),
    });
  });

  it("names the backups that hold it, takes those and no others, and finds what only they hold", async () => {
    const { home, config, clew, workspace } = await homeWithSecret({ turns: 2 });
    rmSync(workspace, { recursive: true });
    await clew("lossless", "backup");
    await clew("lossless", "backup", "--to", join(home, "kept"));
    const kept = await clew("lossless", "forget", "--text", SECRET, "--yes", "--no-backups");
    expect(kept.output).toContain("holds it, and stays, as --no-backups says");
    expect((await clew("lossless", "backups")).output).toContain("messages forgotten since)");
    await clew("lossless", "backup");
    expect((await clew("lossless", "backups")).output.match(/forgotten since/g)).toHaveLength(1);

    const left = await clew("lossless", "forget", "--text", SECRET);
    expect(left.output).toContain("2 backups would be deleted");
    expect(await clew("lossless", "forget", "--text", SECRET, "--yes")).toMatchObject({ code: 0 });
    const remaining = filesBelow(home).filter((file) => /\.copy-[\dTZ-]+$/.test(file));
    expect(remaining).toHaveLength(1);

    // A database that no agent has any more is nobody's to delete.
    const stray = join(home, "agents/gone/clew-lossless/lossless.db");
    mkdirSync(join(stray, ".."), { recursive: true });
    cpSync(remaining[0]!, stray);
    const { say, leave } = await startServedGateway(config, home);
    await say("Wind 1 from the west.");
    await leave();
    const told = await clew("lossless", "forget", "--text", "Wind 1 from", "--yes");
    expect(told).toMatchObject({ code: 1, output: expect.stringContaining(`  ${stray}`) });
    expect(existsSync(stray)).toBe(true);
  }, 60_000);

  /** A home in which the secret was said long ago, and is no longer kept. */
  async function homeWithExpired() {
    const home = await temporaryHome();
    const clew = (...args: string[]) => runIn(home, args);
    const lossless = { slots: { contextEngine: "lossless" }, entries: {} as object };
    const configure = (config: object) => {
      lossless.entries = { lossless: { config } };
      writeFileSync(join(home, "clew.json"), JSON.stringify({ plugins: lossless }));
    };
    configure({});
    const old = Date.now() - 90 * 86_400_000;
    const lines = [
      { type: "session", version: 3, id: "old", timestamp: new Date(old).toISOString(), cwd: "/" },
      ...Array.from({ length: 40 }, (_, at) => ({
        ...{ type: "message", id: `e${at}`, parentId: at === 0 ? null : `e${at - 1}` },
        timestamp: new Date(old + at * 1_000).toISOString(),
        message: {
          role: "user",
          content: `${SECRET} ${at}`.repeat(40),
          timestamp: old + at * 1_000,
        },
      })),
    ];
    const file = join(await temporaryHome(), "old.jsonl");
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    await clew("lossless", "import", file, "--session", "old");
    const outside = await temporaryHome();
    await clew("lossless", "backup", "--to", outside);
    configure({ keepDays: 30 });
    await clew("chat", "hello");
    await expect
      .poll(
        async () => {
          await clew("chat", "go on");
          return (await clew("lossless", "status")).output;
        },
        { timeout: 120_000 },
      )
      .toContain("(40 no longer kept)");
    return { home, clew, file, backup: filesBelow(outside)[0]! };
  }

  it("keeps what was no longer kept from coming back once its session file lost it", async () => {
    const { home, clew, file, backup } = await homeWithExpired();
    cpSync(file, join(home, "agents/main/sessions/old.jsonl"));
    const told = await clew("lossless", "forget", "--text", SECRET);
    expect(told.output).toContain("40 messages that are no longer kept");
    expect(await clew("lossless", "forget", "--text", SECRET, "--yes")).toMatchObject({
      ...{ code: 0, output: expect.stringContaining("Forgotten: 40 messages") },
    });
    expect(holding(home)).toEqual([]);
    const restored = await clew("lossless", "restore", backup);
    expect(restored).toMatchObject({
      code: 0,
      output: expect.stringContaining("40 messages that"),
    });
    expect(holding(home)).toEqual([]);
    await clew("lossless", "import", file, "--session", "again");
    expect(holding(home)).toEqual([]);
    expect(await clew("lossless", "verify")).toMatchObject({ code: 0 });
  });

  it("writes a database anew whose pages may hold what is no longer kept", async () => {
    const { home, clew } = await homeWithExpired();
    expect(holding(home)).not.toEqual([]);
    expect((await clew("lossless", "forget", "--text", SECRET)).output).toContain(
      "pages that nothing uses may hold what is no longer kept",
    );
    expect(await clew("lossless", "forget", "--text", SECRET, "--yes")).toMatchObject({ code: 0 });
    expect(holding(home)).toEqual([]);
    expect(await clew("lossless", "forget", "--text", SECRET)).toMatchObject({ code: 1 });
    expect(await clew("lossless", "verify")).toMatchObject({ code: 0 });
  });

  it("takes it out of the records of child sessions, jobs' runs and approvals, and names what stays", async () => {
    const home = await temporaryHome();
    const { config } = await obedientModel();
    const plugins = { slots: { contextEngine: "lossless" } };
    writeFileSync(join(home, "clew.json"), JSON.stringify({ ...config, plugins }));
    const clew = (...args: string[]) => runIn(home, args);
    const { say, leave } = await startServedGateway({ ...config, plugins }, home);
    const spawn = { task: `Keep in mind: ${SECRET}`, label: `about ${SECRET}`, wait: true };
    await say(run("sessions_spawn", spawn));
    await leave();
    const agent = join(home, "agents/main");
    mkdirSync(join(agent, "approvals"), { recursive: true });
    const grant = (text: string) => ({
      ...{ asker: "plugin:x", name: "exec", grant: text, at: "2026-01-01T00:00:00.000Z" },
    });
    const grants = [grant(`echo ${SECRET}`), grant("ls")];
    writeFileSync(
      join(agent, "approvals/a.json"),
      JSON.stringify({ v: 1, sessionKey: "agent:main:main", grants }),
    );
    mkdirSync(join(home, "cron"));
    writeFileSync(join(home, "cron/j.runs.jsonl"), `${JSON.stringify({ answer: SECRET })}\n{}\n`);
    writeFileSync(join(home, "cron/j.job.json"), JSON.stringify({ message: `Say ${SECRET}` }));
    const child = () =>
      JSON.parse(readFileSync(filesBelow(join(agent, "subagents"))[0]!, "utf8")) as object;
    expect(child()).toMatchObject({ task: expect.stringContaining(TRACE) });

    const told = await clew("lossless", "forget", "--text", SECRET);
    const job = `${join(home, "cron/j.job.json")} is a job that says it at every run`;
    expect(told.output).toContain(job);
    const done = await clew("lossless", "forget", "--text", SECRET, "--yes");
    expect(done).toMatchObject({ code: 1, output: expect.stringContaining(job) });
    expect(holding(home)).toEqual([join(home, "cron/j.job.json")]);
    expect(child()).toMatchObject({ task: "(This was forgotten, as somebody asked.)", depth: 1 });
    const kept = JSON.parse(readFileSync(join(agent, "approvals/a.json"), "utf8"));
    expect(kept.grants).toEqual([grant("ls")]);
    rmSync(join(home, "cron/j.job.json"));
    expect(await clew("lossless", "forget", "--text", SECRET)).toMatchObject({ code: 1 });

    expect((await clew("lossless", "forget", "--session", "main", "--yes")).code).toBe(0);
    const bytes = filesBelow(home).map((file) => readFileSync(file, "latin1"));
    expect(bytes.join()).not.toContain("agent:main:main");
  }, 60_000);

  it("takes the draft of an import that was killed, also where nothing else says it", async () => {
    const home = await temporaryHome();
    const { config } = await obedientModel();
    writeFileSync(join(home, "clew.json"), JSON.stringify(config));
    const { say, leave } = await startServedGateway(config, home);
    await say("hello");
    await leave();
    const draft = join(home, `agents/main/sessions/s.jsonl.import-${crypto.randomUUID()}`);
    writeFileSync(draft, `${JSON.stringify({ type: "message", message: SECRET })}\n`);
    const clew = (...args: string[]) => runIn(home, args);
    const told = await clew("lossless", "forget", "--text", SECRET);
    expect(told).toMatchObject({ code: 0, output: expect.stringContaining(draft) });
    expect((await clew("lossless", "forget", "--text", SECRET, "--yes")).code).toBe(0);
    expect(holding(home)).toEqual([]);
  }, 60_000);

  it("names a session file in which others say the same, and no file that only has the run's id", async () => {
    const home = await temporaryHome();
    const { config } = await obedientModel();
    const plugins = { slots: { contextEngine: "lossless" } };
    writeFileSync(join(home, "clew.json"), JSON.stringify({ ...config, plugins }));
    const clew = (...args: string[]) => runIn(home, args);
    const { say, leave } = await startServedGateway({ ...config, plugins }, home);
    await say(`Please remember this: ${SECRET}`);
    await say("Please think of the wind in the west.");
    await leave();
    const first = await clew("lossless", "forget", "#1");
    expect(first.output).toContain("1 message");
    const [file] = transcriptsOf(home);
    expect(first.output).toContain(`${file} has other messages that say the same`);
    expect(first.output).not.toContain("sessions.json");
    const other = await clew("lossless", "forget", "#4", "--yes");
    expect(other.code).toBe(0);
    const again = await clew("lossless", "forget", "#4");
    expect(again).toMatchObject({ code: 1 });
  }, 60_000);

  it("refuses while a gateway runs, and what does not say one thing", async () => {
    const { home, config, clew } = await homeWithSecret({ turns: 1 });
    expect(await clew("lossless", "forget", "--text", "a", "--session", "main")).toMatchObject({
      code: 2,
      errors: expect.stringContaining("Say one thing to forget"),
    });
    expect(await clew("lossless", "forget", "--pattern", "(")).toMatchObject({
      code: 2,
      errors: expect.stringContaining("This pattern cannot be searched for: a ( is not closed"),
    });
    expect(await clew("lossless", "forget", "--text", "never said at all")).toMatchObject({
      code: 1,
      output: expect.stringMatching(/^No message, .* holds that/),
    });
    for (const [args, said] of [
      [["12"], 'a number is written "#12", in quotes'],
      [["#99"], "There is no message #99 that says anything"],
      [["nobody"], "There is no message with the id nobody"],
    ] as const)
      expect(await clew("lossless", "forget", ...args)).toMatchObject({
        ...{ code: 1, output: expect.stringContaining(said) },
      });
    for (const [args, said] of [
      [["--resume", "--text", "a"], "--resume ends what was asked for before"],
      [["--session", "agent:other:main", "--agent", "main"], "is a session of other, not of main"],
    ] as const)
      expect(await clew("lossless", "forget", ...args)).toMatchObject({
        ...{ code: 2, errors: expect.stringContaining(said) },
      });
    const running = await startServedGateway(config, home);
    await expect(clew("lossless", "forget", "--text", SECRET, "--yes")).resolves.toMatchObject({
      code: 1,
      errors: expect.stringContaining("stop that one first"),
    });
    await running.leave();
    expect(holding(home).length).toBeGreaterThan(2);
  });
});

describe("a process that is killed while it forgets", () => {
  /** What would go, as the command finds it. */
  async function journalOf(home: string): Promise<Journal> {
    const { output } = await runIn(home, ["lossless", "forget", "--text", SECRET, "--json"]);
    const { databases, transcripts, backups } = JSON.parse(output) as {
      databases: { file: string; messages: { number: number }[] }[];
      backups: { file: string }[];
    } & Pick<Journal, "transcripts">;
    return {
      ...{ v: 1, transcripts, backups: backups.map(({ file }) => file) },
      databases: databases.map(({ file, messages }) => ({
        ...{
          file,
          sessions: [],
          summaries: [],
          records: [],
          graves: [],
          numbers: messages.map(({ number }) => number),
        },
      })),
    };
  }

  it("is succeeded by a gateway that ends it, whatever was done by then", async () => {
    const { home, config } = await homeWithSecret({ turns: 3 });
    rmSync(join(home, "agents/main/workspace"), { recursive: true });
    await runIn(home, ["lossless", "backup"]);
    const copies = await temporaryHome();
    const journal = await journalOf(home);
    let steps = 0;
    // Copies have their files elsewhere.
    const copy = () => {
      const folder = join(copies, String(steps++));
      cpSync(home, folder, { recursive: true });
      const file = journalFile(folder);
      writeFileSync(file, readFileSync(file, "utf8").replaceAll(home, folder));
    };
    await runForgetting(home, journal, { matcher: SECRET, onStep: copy });
    expect(holding(home)).toEqual([]);
    expect(steps).toBeGreaterThan(3);
    for (let step = 0; step < steps; step++) {
      const folder = join(copies, String(step));
      await resumeForgetting(folder);
      expect([step, holding(folder)]).toEqual([step, []]);
      expect(existsSync(journalFile(folder))).toBe(false);
      expect((await runIn(folder, ["lossless", "verify"])).code).toBe(0);
      const { say, stop } = await startPluginGateway(config, folder);
      expect((await say("Go on.")).outcome).toBe("completed");
      await stop();
    }
  }, 120_000);

  it("is succeeded by whoever forgets something else next", async () => {
    const { home } = await homeWithSecret({ turns: 1 });
    rmSync(join(home, "agents/main/workspace"), { recursive: true });
    const journal = await journalOf(home);
    writeFileSync(journalFile(home), JSON.stringify(journal));
    const told = await runIn(home, ["lossless", "forget", "--text", "Log entry 0"]);
    expect(told.output).toContain("Something else was being forgotten when a process ended");
    const done = await runIn(home, ["lossless", "forget", "--text", "Log entry 0", "--yes"]);
    expect(done).toMatchObject({ code: 0, output: expect.stringContaining("is forgotten now") });
    expect(holding(home)).toEqual([]);
    expect(existsSync(journalFile(home))).toBe(false);
  }, 60_000);

  it("is succeeded by clew start, whichever step it was killed in", async () => {
    const { home } = await homeWithSecret({ turns: 2 });
    rmSync(join(home, "agents/main/workspace"), { recursive: true });
    await runIn(home, ["lossless", "backup"]);
    const killing = new URL("../testing/forget-killed.ts", import.meta.url);
    let isKilled = true;
    let step = 0;
    for (; isKilled; step++) {
      const folder = await temporaryHome();
      cpSync(home, folder, { recursive: true });
      const journal = join(await temporaryHome(), "journal.json");
      writeFileSync(journal, JSON.stringify(await journalOf(folder)));
      const child = startChild(killing, [folder, journal, String(step)]);
      await child.exit;
      isKilled = child.process.signalCode === "SIGKILL";
      expect([step, existsSync(journalFile(folder))]).toEqual([step, isKilled]);
      const started = startClew(folder, ["start", "--port", "0"], { fromSource: true });
      await started.nextLine();
      started.process.kill("SIGTERM");
      expect([step, await started.exit]).toEqual([step, 0]);
      expect(started.errors().includes("is forgotten now")).toBe(isKilled);
      expect([step, holding(folder)]).toEqual([step, []]);
    }
    expect(step).toBeGreaterThan(5);
    // Two processes a step, one after the other, each from its sources.
  }, 300_000);

  it("leaves everything or nothing once it is succeeded, killed at any moment", async () => {
    const { home } = await homeWithSecret({ turns: 3 });
    rmSync(join(home, "agents/main/workspace"), { recursive: true });
    const before = holding(home).length;
    for (const delay of [0, 20, 80]) {
      const folder = await temporaryHome();
      cpSync(home, folder, { recursive: true });
      const child = startClew(folder, ["lossless", "forget", "--text", SECRET, "--yes"]);
      const isOver = child.exit.then(() => true);
      while (!existsSync(journalFile(folder)) && !(await Promise.race([isOver, sleep(5)])));
      await sleep(delay);
      child.process.kill("SIGKILL");
      await child.exit;
      expect((await runIn(folder, ["lossless", "forget", "--resume"])).code).toBe(0);
      expect([0, before]).toContain(holding(folder).length);
      expect((await runIn(folder, ["lossless", "verify"])).code).toBe(0);
    }
  }, 120_000);
});
