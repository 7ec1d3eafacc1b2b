import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createOpenAIEmulator } from "@clew/providers/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  testDatabase,
  UNLESS_THERE,
  whyNoPostgres,
} from "../../../../../packages/store-postgres/src/testing/shared.ts";
import { createJobFiles } from "../../cron/job-files.ts";
import { clew } from "../../testing/command.ts";
import { emulatedModel, startTestGateway } from "../../testing/gateway.ts";
import { temporaryHome } from "../../testing/home.ts";

const asJson = (text: string) => JSON.parse(text);

describe("clew cron", () => {
  it("adds, lists, pauses, resumes and removes jobs, and says when each is due", async () => {
    const home = await temporaryHome();
    expect((await clew(home, ["cron", "list"])).output).toContain("No jobs yet");
    const added = await clew(home, [
      ...["cron", "add", "0 8 * * 1-5", "Sum up.", "--id", "morning"],
      ...["--time-zone", "Europe/Berlin", "--session", "main"],
    ]);
    expect(added.code).toBe(0);
    expect(added.output).toMatch(/^Job morning runs next at \d{4}-.* UTC, in session main\.$/m);
    expect(added.errors).toContain("no gateway of this home runs now");
    await clew(home, ["cron", "add", "every 30m", "look", "--id", "pulse", "--heartbeat"]);
    const { jobs } = asJson((await clew(home, ["cron", "list", "--json"])).output);
    expect(jobs).toMatchObject([
      { id: "morning", session: "agent:main:main", status: "due", kind: "cron", last: null },
      { id: "pulse", session: "agent:main:cron:pulse", kind: "heartbeat", enabled: true },
    ]);
    expect(jobs[1].next).toBe(jobs[1].createdAt + 30 * 60_000);
    expect((await clew(home, ["cron", "pause", "pulse"])).output).toContain("is paused");
    const { output: list } = await clew(home, ["cron", "list"]);
    expect(list).toMatch(/pulse +every 30m .*paused/);
    expect(list).toMatch(/morning +0 8 \* \* 1-5 \(Europe\/Berlin\) /);
    expect((await clew(home, ["cron", "resume", "pulse"])).output).toContain("runs next at");
    expect((await clew(home, ["cron", "rm", "pulse"])).output).toContain(
      "session cron:pulse stays",
    );
    expect(await createJobFiles(home).jobs()).toHaveLength(1);
  });

  it.each([
    [["add", "every 3s", "x"], "is not between a minute and a year"],
    [["add", "0 8 * *", "x"], "five fields"],
    [["add", "at 2020-01-01T00:00:00Z", "x"], "is never due from now on"],
    [["add", "every 1h", " "], "its message is blank"],
    [["add", "every 1h", "x", "--id", "../up"], "is no id"],
    [["add", "every 1h", "x", "--max-late", "soon"], "is no number above 0"],
    [["add", "0 8 * * *", "x", "--time-zone", "Mars"], "is no time zone"],
    [
      ["add", "every 30m", "x", "--time-zone", "Mars/Base"],
      'The job was not added: "Mars/Base" is no time zone such as Europe/Berlin or UTC.',
    ],
    [
      ["add", "every 30m", "x", "--session", "agent:mian:news"],
      'there is no agent "mian" in agents.list, only main; add it there, or name a session of another one, such as --session agent:main:news.',
    ],
    [["rm", "none"], 'There is no job "none"; "clew cron list" lists them.'],
    [["run", "none"], "There is no job"],
  ])("%j ends with 2 and says why", async (args, why) => {
    const { code, errors } = await clew(await temporaryHome(), ["cron", ...args]);
    expect(code).toBe(2);
    expect(errors).toContain(why);
  });

  it("takes a session of each agent, and one that is there already", async () => {
    const home = await temporaryHome();
    const list = [{ id: "main" }, { id: "coder" }];
    await writeFile(join(home, "clew.json"), JSON.stringify({ agents: { list } }));
    await clew(home, ["chat", "--session", "agent:guest:x", "hello"]);
    for (const session of ["main", "agent:coder:news", "agent:guest:x"]) {
      const args = ["cron", "add", "every 1h", "x", "--session", session, "--time-zone", "UTC"];
      expect((await clew(home, args)).code, session).toBe(0);
    }
  });

  it("runs a job in a gateway, once, and history tells how it went", async () => {
    const server = await createOpenAIEmulator({ answers: [{ text: "All is well." }] });
    onTestFinished(() => server.close());
    const { home, gateway } = await startTestGateway(emulatedModel(server.baseUrl));
    await clew(home, ["cron", "add", "every 1h", "How is it?", "--id", "pulse", "--heartbeat"]);
    expect((await clew(home, ["cron", "history", "pulse"])).output).toContain("has not run yet");
    expect((await clew(home, ["cron", "run", "pulse"])).errors).toBe("");
    await gateway.scheduler.start();
    const history = () => clew(home, ["cron", "history", "pulse", "--json"]);
    await vi.waitFor(async () => expect(asJson((await history()).output).runs).toHaveLength(1), {
      timeout: 120_000,
    });
    expect(asJson((await history()).output).runs[0]).toMatchObject({
      ...{ outcome: "completed", answer: "All is well.", missed: 0 },
    });
    await gateway.scheduler.look();
    expect(server.requests).toHaveLength(1);
    expect(JSON.stringify(server.requests[0])).toContain("How is it?");
    const { output } = await clew(home, ["sessions", "show", "cron:pulse"]);
    expect(output).toMatch(/ job:\n {2}How is it\?/);
  });

  it("says of a job that it waits for a gateway, or was interrupted, where none runs", async () => {
    const home = await temporaryHome();
    await clew(home, ["cron", "add", "every 1h", "x", "--id", "a"]);
    const asked = await clew(home, ["cron", "run", "a"]);
    expect(asked.output).toContain('Job a runs once "clew start" does, as no gateway');
    const { output } = await clew(home, ["cron", "run", "a", "--json"]);
    expect(asJson(output)).toMatchObject({ job: "a", waitsForGateway: true });
    const files = createJobFiles(home);
    const run = { due: 1, startedAt: 1, missed: 0 };
    await files.writeState("a", { ...(await files.state("a")), run });
    expect((await clew(home, ["cron", "list"])).output).toMatch(/^a .* interrupted /m);
    expect((await clew(home, ["cron", "rm", "a", "--json"])).output).toContain('"goesOn": false');
  });

  it("passes a file over that holds no job, and says so", async () => {
    const home = await temporaryHome();
    await clew(home, ["cron", "add", "every 1h", "x", "--id", "a"]);
    await writeFile(join(home, "cron/b.job.json"), "{");
    const { code, output, errors } = await clew(home, ["cron", "list"]);
    expect([code, output.includes("every 1h")]).toEqual([1, true]);
    expect(errors).toContain("b.job.json holds no job");
  });
});

describe.skipIf(whyNoPostgres() !== null)(`clew cron in a database ${UNLESS_THERE}`, () => {
  it("does what it does in files, whichever home it is asked in", async () => {
    const server = await createOpenAIEmulator({
      answers: [{ text: "All is well." }, { fault: "status", status: 400 }],
    });
    onTestFinished(() => server.close());
    const storage = { driver: "postgres", url: await testDatabase() };
    const config = { storage, door: { enabled: false } };
    const homes = [await temporaryHome(), await temporaryHome()];
    for (const home of homes) await writeFile(join(home, "clew.json"), JSON.stringify(config));
    const cron = (home: number, ...args: string[]) => clew(homes[home]!, ["cron", ...args]);
    const added = await cron(0, "add", "every 1h", "How is it?", "--id", "pulse", "--heartbeat");
    expect(added).toMatchObject({
      code: 0,
      errors: expect.stringContaining("no gateway of this database runs now"),
    });
    expect((await cron(1, "add", "every 2h", "x", "--id", "pulse")).errors).toContain(
      'there is a job "pulse"',
    );
    const listed = async () => asJson((await cron(1, "list", "--json")).output).jobs;
    expect(await listed()).toMatchObject([
      { id: "pulse", session: "agent:main:cron:pulse", kind: "heartbeat", status: "due" },
    ]);
    expect((await cron(1, "pause", "pulse")).output).toContain("is paused");
    expect(await listed()).toMatchObject([{ enabled: false, status: "paused", next: null }]);
    expect((await cron(0, "history", "pulse")).output).toContain("has not run yet");
    expect((await cron(1, "run", "pulse")).output).toContain("as no gateway of this database");

    const model = { ...emulatedModel(server.baseUrl), ...config };
    const own = { ...model, storage: { ...storage, address: "http://127.0.0.1:1" } };
    const { gateway } = await startTestGateway(own);
    await gateway.waiting.resume();
    await gateway.scheduler.start();
    const runs = async () => asJson((await cron(1, "history", "pulse", "--json")).output).runs;
    await vi.waitFor(async () => expect(await runs()).toHaveLength(1), { timeout: 60_000 });
    expect((await runs())[0]).toMatchObject({
      ...{ outcome: "completed", answer: "All is well.", missed: 0 },
    });
    expect(server.requests).toHaveLength(1);
    await cron(1, "run", "pulse");
    await gateway.scheduler.look();
    await vi.waitFor(async () => expect(await runs()).toHaveLength(2), { timeout: 60_000 });
    expect((await runs())[0]).toMatchObject({ outcome: "failed", reason: expect.any(String) });
    expect((await runs())[0].reason).toContain("400");
    expect((await cron(0, "resume", "pulse")).output).toContain("runs next at");
    expect((await clew(homes[0]!, ["sessions", "show", "cron:pulse"])).output).toMatch(
      / job:\n {2}How is it\?/,
    );
    expect((await cron(1, "rm", "pulse")).output).toContain("session cron:pulse stays");
    expect((await cron(0, "list")).output).toContain("No jobs yet");
    expect((await cron(0, "rm", "pulse")).code).toBe(2);
  });
});
