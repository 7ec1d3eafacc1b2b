import { appendFile, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { NewTranscriptEntry, TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { repairSession } from "../cli/repair.ts";
import { checkSessions } from "../doctor/check-sessions.ts";
import { collectOutput } from "../testing/command.ts";
import { temporaryHome } from "../testing/home.ts";
import { readTranscript } from "./read-transcript.ts";
import { createSessionStore } from "./store.ts";

const user = (content: string): NewTranscriptEntry => ({
  type: "message",
  message: { role: "user", content },
});

const said = (branch: readonly TranscriptEntry[]) =>
  branch.map(
    (entry) => entry.type === "message" && (entry.message as { content?: unknown }).content,
  );

const open = (home: string) =>
  createSessionStore({ home }).open({ key: "main", cwd: "/somewhere" });

/** The file of a session of three messages, the last two of them written again in one rewrite. */
async function rewritten(home: string): Promise<string> {
  const session = await open(home);
  const [, second] = await session.append([user("one"), user("two"), user("three")]);
  await session.rewrite({
    replacements: [{ entryId: second!.id, message: { role: "user", content: "zwei" } }],
  });
  await session.close();
  return session.session.sessionFile;
}

async function reopened(home: string) {
  const session = await open(home);
  await session.close();
  return { said: said(session.branch()), notes: session.notes };
}

const codes = async (home: string, fix = false) =>
  (await checkSessions({ home, fix })).map(({ code }) => code);

describe("a damaged session, when it is opened", () => {
  it("keeps a rewrite of which two lines became one", async () => {
    const home = await temporaryHome();
    const file = await rewritten(home);
    const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
    await writeFile(file, `${lines.slice(0, -2).join("\n")}\n${lines.at(-2)}${lines.at(-1)}\n`);
    const { said, notes } = await reopened(home);
    expect(said).toEqual(["one", "zwei", "three"]);
    expect(notes).toMatchObject([{ kind: "repaired", report: { salvagedEntries: 2 } }]);
  });

  it("keeps the entry that stands before a torn one on the last line", async () => {
    const home = await temporaryHome();
    const file = await rewritten(home);
    await writeFile(file, `${(await readFile(file, "utf8")).trimEnd()}{"type":"mess`);
    const { said, notes } = await reopened(home);
    expect(said).toEqual(["one", "zwei", "three"]);
    expect(notes).toMatchObject([{ kind: "repaired", report: { salvagedEntries: 1 } }]);
  });

  it("keeps its history where a line without a place stands before an entry without a parent", async () => {
    const home = await temporaryHome();
    const file = await rewritten(home);
    const last = { type: "message", parentId: null, timestamp: "2026-01-01T00:00:00.000Z" };
    const after = { ...last, id: "later", message: { role: "user", content: "four" } };
    await appendFile(file, `{}\n${JSON.stringify(after)}\n`);
    const read = await readTranscript(file);
    expect(said(read.branch)).toEqual(["one", "zwei", "three", "four"]);
    expect(await codes(home)).toContain("session-damaged");
    expect(await codes(home, true)).toContain("session-repaired");
    const { said: told, notes } = await reopened(home);
    expect(told).toEqual(["one", "zwei", "three", "four"]);
    expect(notes).toMatchObject([{ kind: "unreadable-lines" }]);
  });

  it("gets a header again, with its own id, when a bit of it flipped", async () => {
    const home = await temporaryHome();
    const file = await rewritten(home);
    const bytes = await readFile(file);
    bytes[bytes.indexOf(",")]! ^= 1;
    await writeFile(file, bytes);
    expect(await codes(home)).toContain("session-damaged");
    const { said, notes } = await reopened(home);
    expect(said).toEqual(["one", "zwei", "three"]);
    expect(notes).toMatchObject([{ kind: "repaired", report: { mendedHeaders: 1 } }]);
    expect(JSON.parse((await readFile(file, "utf8")).split("\n")[0]!)).toMatchObject({
      sessionKey: "agent:main:main",
      cwd: "/somewhere",
    });
    expect(await codes(home)).toEqual(["sessions", "sessions-kept-aside"]);
  });

  it("is free of what a killed repair left beside it", async () => {
    const home = await temporaryHome();
    const file = await rewritten(home);
    // No process has this id.
    for (const kind of ["bak", "repair"]) await writeFile(`${file}.${kind}-4194305-1`, "left");
    await appendFile(file, "no entry\n");
    expect(await codes(home)).toContain("repair-leftovers");
    await reopened(home);
    const names = await readdir(dirname(file));
    expect(names.filter((name) => /\.(?:bak|repair)-/.test(name))).toEqual([]);
    expect(names.filter((name) => name.includes(".removed-"))).toHaveLength(1);
  });
});

describe("the doctor", () => {
  it("removes what killed repairs left, and says where what was taken out is kept", async () => {
    const home = await temporaryHome();
    const file = await rewritten(home);
    await writeFile(`${file}.bak-4194305-1`, "left");
    expect(await codes(home)).toEqual(["sessions", "repair-leftovers"]);
    expect(await codes(home, true)).toEqual(["sessions", "repair-leftovers-removed"]);
    await appendFile(file, "no entry\n");
    await codes(home, true);
    const [, finding] = await checkSessions({ home, fix: false });
    expect(finding).toMatchObject({
      code: "sessions-kept-aside",
      text: expect.stringMatching(/^1 file in .*\.removed-.*9 bytes/),
    });
  });
});

describe("clew sessions repair", () => {
  it("names the file that holds what it took out", async () => {
    const file = await rewritten(await temporaryHome());
    await appendFile(file, "no entry\n");
    const output = collectOutput();
    expect(await repairSession(file, {}, { output })).toBe(0);
    const [, keptIn = ""] = /What was taken out is in (.*)\.\n/.exec(output.out()) ?? [];
    expect(await readFile(keptIn, "utf8")).toBe("no entry\n");
  });

  it("says as data, too, in our words why a file cannot be read", async () => {
    const output = collectOutput();
    await expect(
      repairSession(await temporaryHome(), { json: true }, { output }),
    ).rejects.toMatchObject({ code: "TRANSCRIPT_UNREADABLE" });
    expect(JSON.parse(output.out())).toMatchObject({ code: "not-read", reason: "it is a folder" });
  });

  it("does not touch a session that is open", async () => {
    const home = await temporaryHome();
    await rewritten(home);
    const session = await open(home);
    const { sessionFile } = session.session;
    await expect(repairSession(sessionFile, {}, { output: collectOutput() })).rejects.toMatchObject(
      { code: "SESSION_LOCKED" },
    );
    await session.close();
  });
});
