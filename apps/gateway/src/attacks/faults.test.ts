// Links in the place of files, limits of the system, and signals at the wrong time.
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { createLog } from "../log/log.ts";
import { readFileReports } from "../reports/read-reports.ts";
import { reportFiles } from "../reports/report-files.ts";
import { createSessionStore } from "../sessions/store.ts";
import { startChild } from "../testing/child.ts";
import { BUILT_CLEW, clew, startClew } from "../testing/command.ts";
import { parseStream, post, startTestGateway } from "../testing/gateway.ts";
import { heldModel } from "../testing/held-model.ts";
import { temporaryHome } from "../testing/home.ts";

const SOON = { timeout: 120_000 };

async function startGateway(home: string, shellPrefix: string) {
  const child = startChild(pathToFileURL(BUILT_CLEW), ["start", "--port", "0"], {
    ...{ shellPrefix, stderr: true },
    env: { CLEW_HOME: home, CLEW_DEMO: "off", OPENCLAW_STATE_DIR: "" },
  });
  const [, port] = /127\.0\.0\.1:(\d+)/.exec(await child.nextLine()) ?? [];
  return { child, url: `http://127.0.0.1:${port}` };
}

const say = async (url: string, text: string, session = "main") =>
  parseStream(
    await (await fetch(`${url}/api/sessions/${session}/messages`, post({ text }))).text(),
  );

describe("a link", () => {
  it("in the place of the log is not followed, ends nothing, and is named by the doctor", async () => {
    for (const link of ["logs/gateway.log", "logs"]) {
      const home = await temporaryHome();
      const elsewhere = join(await temporaryHome(), "elsewhere");
      if (link === "logs") await mkdir(elsewhere);
      else await writeFile(elsewhere, "as it was");
      if (link !== "logs") await mkdir(join(home, "logs"));
      await symlink(elsewhere, join(home, link));
      const log = createLog({ file: join(home, "logs/gateway.log") });
      log.error("nobody reads this");
      log.close();
      if (link === "logs") expect(await readdir(elsewhere)).toEqual([]);
      else expect(await readFile(elsewhere, "utf8")).toBe("as it was");
      expect((await clew(home, ["doctor"])).output).toContain(`${join(home, link)} is a link`);
    }
  });

  it("in the place of a session is no session, and is neither read nor written", async () => {
    const home = await temporaryHome();
    const store = createSessionStore({ home });
    const session = await store.open({ key: "main", cwd: home });
    const { sessionFile } = session.session;
    await session.close();
    const elsewhere = join(await temporaryHome(), "elsewhere.jsonl");
    await writeFile(elsewhere, "as it was\n");
    await symlink(elsewhere, sessionFile);
    expect(await store.list()).toEqual([]);
    expect(await store.read("main")).toBeNull();
    await expect(store.open({ key: "main", cwd: home })).rejects.toThrow("is a link");
    const { get } = await startTestGateway({}, home);
    expect((await get("/api/sessions/main/transcript")).status).toBe(404);
    const { events } = parseStream(
      await (await get("/api/sessions/main/messages", post({ text: "hi" }))).text(),
    );
    expect(events.at(-1)).toMatchObject({
      ...{ type: "error", error: { code: "TRANSCRIPT_UNREADABLE" } },
    });
    expect(await readFile(elsewhere, "utf8")).toBe("as it was\n");
  });

  it("in the place of the list of sessions or of what was spent changes nothing where it leads", async () => {
    for (const [place, isHeard] of [
      ["agents/main/sessions/sessions.json", false],
      ["costs", true],
    ] as const) {
      const home = await temporaryHome();
      const elsewhere = join(await temporaryHome(), "elsewhere");
      if (isHeard) await mkdir(elsewhere);
      else await writeFile(elsewhere, "as it was");
      await mkdir(join(home, place, ".."), { recursive: true });
      await symlink(elsewhere, join(home, place));
      const { get } = await startTestGateway({}, home);
      const said = await (await get("/api/sessions/main/messages", post({ text: "hi" }))).text();
      if (isHeard) expect(parseStream(said).events.at(-1)).toMatchObject({ type: "done" });
      else expect(said).toContain(`${join(home, place)} is a link, which is never followed`);
      if (isHeard) expect(await readdir(elsewhere)).toEqual([]);
      else expect(await readFile(elsewhere, "utf8")).toBe("as it was");
    }
  });

  it("in the place of a session's reports takes none of them, and costs no reply", async () => {
    const { home, say: talk, get } = await startTestGateway();
    await talk("My cat is called Minka.", { session: "one" });
    const { sessionId } = (await (await get("/api/sessions/one")).json()) as { sessionId: string };
    const reports = join(home, "agents/main/reports");
    const second = await startTestGateway();
    await mkdir(join(second.home, "agents/main/reports"), { recursive: true });
    expect(existsSync(join(reports, `${sessionId}.jsonl`))).toBe(true);
    const store = createSessionStore({ home: second.home });
    const session = await store.open({ key: "two", cwd: second.home });
    const id = session.session.sessionId;
    await session.close();
    const elsewhere = join(await temporaryHome(), "elsewhere");
    await writeFile(elsewhere, "");
    await symlink(elsewhere, join(second.home, `agents/main/reports/${id}.jsonl`));
    expect((await second.say("My cat is called Minka.", { session: "two" })).text).toBe("Noted.");
    expect(await readFile(elsewhere, "utf8")).toBe("");
  });
});

describe.skipIf(process.platform === "win32")("a gateway goes on", () => {
  it("when a file may grow no further, again and again", async () => {
    const home = await temporaryHome();
    const { child, url } = await startGateway(home, "ulimit -f 128");
    const ends: unknown[] = [];
    for (let count = 0; count < 8; count++) {
      const { events } = await say(url, "a".repeat(30_000));
      ends.push(events.at(-1));
    }
    expect(JSON.stringify(ends)).toContain("STORAGE_FAILED");
    expect((await say(url, "My cat is called Minka.", "other")).text).toBe("Noted.");
    expect(child.process.exitCode).toBeNull();
  });

  it("when there are more connections than files it may open", async () => {
    const home = await temporaryHome();
    const { child, url } = await startGateway(home, "ulimit -n 96");
    const asked = Array.from({ length: 200 }, () =>
      fetch(`${url}/api/sessions`).then(
        ({ status }) => status,
        () => 0,
      ),
    );
    for (const status of await Promise.all(asked)) expect([0, 200]).toContain(status);
    await expect
      .poll(() => say(url, "My cat is called Minka.").then(({ text }) => text, String), SOON)
      .toBe("Noted.");
    expect(child.process.exitCode).toBeNull();
  });
});

describe("a turn under way", () => {
  it("is finished when the gateway is told to stop and given the time, and recorded when not", async () => {
    for (const grace of ["30", "0"]) {
      const model = await heldModel();
      const home = await temporaryHome();
      await writeFile(join(home, "clew.json"), JSON.stringify(model.config));
      const child = startClew(home, ["start", "--port", "0"]);
      const [, port] = /127\.0\.0\.1:(\d+)/.exec(await child.nextLine()) ?? [];
      const turn = say(`http://127.0.0.1:${port}`, "a long one");
      const reply = await model.asked();
      reply.say("half of it");
      const stopped = clew(home, ["stop", "--grace", grace]);
      if (grace === "30") {
        // Told to stop, it takes no more.
        const health = () =>
          fetch(`http://127.0.0.1:${port}/readyz`).then(
            ({ status }) => status,
            () => 0,
          );
        await expect.poll(health, SOON).toBe(503);
        reply.say(", and the rest");
        reply.finish();
      }
      expect((await stopped).code).toBe(0);
      await turn.catch(() => undefined);
      const shown = (await clew(home, ["sessions", "show", "main"])).output;
      expect(shown).toContain(grace === "30" ? "half of it, and the rest" : "half of it");
      const reports = join(home, "agents/main/reports");
      const [name] = (await readdir(reports)).filter((each) => each.endsWith(".jsonl"));
      const [file] = await reportFiles(reports, name!.replace(".jsonl", ""));
      const outcomes: string[] = [];
      await readFileReports(file!, {}, ({ report }) => {
        if (report !== undefined) outcomes.push(report.outcome);
      });
      expect(outcomes).toEqual([grace === "30" ? "completed" : "aborted"]);
    }
  });

  it("does not keep a gateway that is told twice", async () => {
    const model = await heldModel();
    const home = await temporaryHome();
    await writeFile(join(home, "clew.json"), JSON.stringify(model.config));
    const child = startClew(home, ["start", "--port", "0"]);
    const [, port] = /127\.0\.0\.1:(\d+)/.exec(await child.nextLine()) ?? [];
    const turn = say(`http://127.0.0.1:${port}`, "a long one").catch(() => undefined);
    await model.asked();
    child.process.kill("SIGTERM");
    await expect.poll(() => child.errors(), SOON).toContain("stopping");
    child.process.kill("SIGTERM");
    expect([0, 130]).toContain(await child.exit);
    await turn;
    expect((await clew(home, ["status"])).code).toBe(1);
    expect((await clew(home, ["sessions", "show", "main"])).output).toContain("a long one");
  });
});
