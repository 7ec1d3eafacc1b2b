import { existsSync, mkdirSync, mkdtempSync, utimesSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openSession } from "../sessions/open.ts";
import { agentPaths, transcriptFile, waitingFile } from "../sessions/paths.ts";
import { clew } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";
import { createWaitingFiles } from "../waiting/waiting-files.ts";
import { checkSessions } from "./check-sessions.ts";

const agentId = "main";

async function sessionWith(home: string, sessionId: string, texts: readonly string[]) {
  const sessionKey = `agent:${agentId}:${sessionId}`;
  const sessionFile = transcriptFile(home, agentId, sessionId);
  const session = await openSession({
    session: { agentId, sessionId, sessionKey, sessionFile },
    cwd: "",
  });
  await session.append(
    texts.map((content) => ({ type: "message", message: { role: "user", content } })),
  );
  return session;
}

const countIn = async (home: string) =>
  (await checkSessions({ home, fix: false })).find(({ code }) => code === "sessions")?.text;

describe("the doctor's count of sessions", () => {
  it("leaves out those that are open, and says so", async () => {
    const home = mkdtempSync(join(tmpdir(), "check-sessions-"));
    const open = await sessionWith(home, "one", ["a", "b"]);
    expect(await countIn(home)).toBe("1 transcript, open and not looked at");
    await (await sessionWith(home, "two", ["c"])).close();
    expect(await countIn(home)).toBe(
      "2 transcripts: 1 open and not looked at, 1 entry in the others",
    );
    await open.close();
    expect(await countIn(home)).toBe("2 transcripts, 3 entries");
  });

  it("is not told where they are in a database", async () => {
    const home = await temporaryHome();
    await (await sessionWith(home, "one", ["a"])).close();
    const storage = { driver: "postgres", url: "postgres://127.0.0.1:1/clew" };
    const told = async (settings: object) => {
      await writeFile(join(home, "clew.json"), JSON.stringify(settings));
      return (await clew(home, ["doctor"])).output;
    };
    expect(await told({})).toContain("sessions of main: 1 transcript");
    expect(await told({ storage })).not.toContain("sessions of main");
  });
});

describe("the doctor of sessions that are open", () => {
  it("tells of them in one line, however many there are", async () => {
    const home = mkdtempSync(join(tmpdir(), "check-sessions-"));
    const told = async () =>
      (await checkSessions({ home, fix: false })).flatMap(({ code, subject, text }) =>
        code === "session-in-use" ? [`${subject}: ${text}`] : [],
      );
    const where = `in process ${process.pid}; not looked at`;
    const one = await sessionWith(home, "one", ["a"]);
    expect(await told()).toEqual([`session one: open ${where}`]);
    const others = await Promise.all(["two", "three"].map((id) => sessionWith(home, id, ["b"])));
    expect(await told()).toEqual([`sessions of main: 3 are open ${where}`]);
    for (const session of [one, ...others]) await session.close();
    expect(await told()).toEqual([]);
  });
});

describe("the doctor of messages that wait", () => {
  it("names the file of those that could not be read, and what to do", async () => {
    const home = mkdtempSync(join(tmpdir(), "check-sessions-"));
    const file = waitingFile(home, agentId, "agent:main:one");
    mkdirSync(agentPaths(home, agentId).sessions, { recursive: true });
    mkdirSync(agentPaths(home, agentId).waiting, { recursive: true });
    writeFileSync(file, "{ broken");
    const halfWritten = `${file}.123456789`;
    writeFileSync(halfWritten, '{"v":1,"mess');
    utimesSync(halfWritten, 1, 1);
    const quiet = { info() {}, warn() {}, error() {}, debug() {} };
    expect(await createWaitingFiles({ home, log: quiet }).all()).toEqual([]);
    const found = await checkSessions({ home, fix: false });
    expect(found.find(({ code }) => code === "waiting-unreadable")).toMatchObject({
      level: "warning",
      text: `1 file of messages that waited could not be read, so their turns did not begin: ${file}.unreadable; send what they say again, and delete them`,
    });
    expect(found.find(({ code }) => code === "waiting-half-written")).toMatchObject({
      level: "note",
      text: expect.stringContaining(`was half written when a process was killed: ${halfWritten};`),
    });
    const writing = `${file}.987654321`;
    writeFileSync(writing, "{");
    await createWaitingFiles({ home, log: quiet }).tidy();
    expect([existsSync(halfWritten), existsSync(writing)]).toEqual([false, true]);
  });
});
