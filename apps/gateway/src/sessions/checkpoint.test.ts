import {
  appendFile,
  chmod,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { checkSessions } from "../doctor/check-sessions.ts";
import { startChild } from "../testing/child.ts";
import { temporaryHome } from "../testing/home.ts";
import {
  type Checkpoint,
  checkpointFile,
  currentCheckpoint,
  readCheckpoint,
} from "./checkpoint.ts";
import { type EntryRow, forEachRow } from "./checkpoint-lines.ts";
import { transcriptFile } from "./paths.ts";
import { createSessionStore } from "./store.ts";

const runs = { numRuns: fc.readConfigureGlobal().numRuns! / 5 };
const text = fc.string({ unit: "grapheme", maxLength: 3000 });
const user = text.map((content) => ({
  type: "message" as const,
  message: { role: "user" as const, content },
}));
const note = fc.oneof(
  user,
  text.map((summary) => ({
    type: "compaction" as const,
    ...{ summary, firstKeptEntryId: "none", tokensBefore: 7 },
  })),
  text.map((data) => ({ type: "custom" as const, customType: "note", data })),
  text.map((content) => ({ type: "custom_message" as const, customType: "note", content })),
);

const WRITER = new URL("../testing/session-writer.ts", import.meta.url);
const STUCK = new URL("../testing/stuck-between-writes.ts", import.meta.url);

/** A store whose sessions have a checkpoint from their first byte on. */
async function newStore() {
  const home = await temporaryHome();
  const store = createSessionStore({ home, checkpointFrom: 0 });
  const open = () => store.open({ key: "main", cwd: home });
  const fileOf = (session: { session: { sessionId: string } }) =>
    transcriptFile(home, "main", session.session.sessionId);
  return { home, store, open, fileOf };
}

function rowsOf({ lines }: Checkpoint): EntryRow[] {
  const rows: EntryRow[] = [];
  for (const line of lines) forEachRow(line, rows.at(-1)?.id ?? null, (row) => rows.push(row));
  return rows;
}

const plain = (branch: readonly TranscriptEntry[]) =>
  branch.map((entry) => JSON.parse(JSON.stringify(entry)) as unknown);

/** A session of three messages that was closed. */
async function closedSession() {
  const kit = await newStore();
  const session = await kit.open();
  for (const content of ["one", "two", "three"])
    await session.append([{ type: "message", message: { role: "user", content } }]);
  const branch = plain(session.branch());
  await session.close();
  return { ...kit, branch, file: kit.fileOf(session) };
}

/** The line of a message that follows the last one of `text`. */
function lineBehind(text: string, id: string, content: string): string {
  const last = JSON.parse(text.trimEnd().split("\n").at(-1)!) as TranscriptEntry;
  const message = { role: "user", content, __openclaw: { id } };
  const { timestamp } = last;
  return `${JSON.stringify({ type: "message", message, id, parentId: last.id, timestamp })}\n`;
}

const textIn = (entry: TranscriptEntry) =>
  entry.type === "message" && entry.message.role === "user" ? entry.message.content : undefined;

describe("a session that is opened by its checkpoint", () => {
  it("is the session that was closed, whatever was appended, rewritten and taken back", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(note, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 4 }),
        fc.nat(),
        async (steps, pick) => {
          const { open, store, fileOf } = await newStore();
          for (const entries of steps) {
            const session = await open();
            await session.append(entries);
            await session.compaction.append(entries);
            const messages = session.branch().filter(({ type }) => type === "message");
            const target = messages[pick % Math.max(1, messages.length)];
            if (target !== undefined)
              await session.rewrite({
                replacements: [
                  { entryId: target.id, message: { role: "user", content: `again ${pick}` } },
                ],
              });
            const expected = plain(session.branch());
            await session.close();

            expect(await currentCheckpoint(fileOf(session))).toBeDefined();
            const again = await open();
            expect(plain(again.branch())).toEqual(expected);
            expect(again.notes).toEqual([]);
            await again.close();
            expect(plain((await store.read("main"))!.branch)).toEqual(expected);
            await rm(checkpointFile(fileOf(session)));
            expect(plain((await store.read("main"))!.branch)).toEqual(expected);
          }
        },
      ),
      runs,
    );
  });

  it("hands out the same frozen entries and messages each time", async () => {
    const { open } = await closedSession();
    const session = await open();
    const [entry] = session.branch();
    if (entry?.type !== "message") throw new Error("the first entry is a message");
    expect(entry.message).toBe(entry.message);
    expect(Object.isFrozen(entry)).toBe(true);
    expect(Object.isFrozen(entry.message)).toBe(true);
    expect({ ...entry }).toMatchObject({ type: "message", message: { content: "one" } });
    await session.close();
  });

  it("goes on with ids that no entry has", async () => {
    const { open } = await closedSession();
    const session = await open();
    await session.append([{ type: "message", message: { role: "user", content: "four" } }]);
    const ids = session.branch().map(({ id }) => id);
    expect(new Set(ids).size).toBe(4);
    await session.close();
  });
});

describe("a checkpoint", () => {
  it("that is gone, damaged or cut off anywhere changes nothing, and is made again", async () => {
    const { open, branch, file } = await closedSession();
    const good = await readFile(checkpointFile(file));
    const damages = [
      () => rm(checkpointFile(file)),
      () => writeFile(checkpointFile(file), "not ours\n"),
      () => writeFile(checkpointFile(file), ""),
      () => writeFile(checkpointFile(file), good.toString().replace("1", "2")),
      () => writeFile(checkpointFile(file), good.toString().replace(/\d(?=[^\d]*$)/, "x")),
      ...Array.from({ length: 20 }, (_, cut) => async () => {
        await writeFile(checkpointFile(file), good);
        await truncate(checkpointFile(file), Math.floor((good.length * cut) / 20));
      }),
    ];
    for (const damage of damages) {
      await damage();
      const session = await open();
      expect(plain(session.branch())).toEqual(branch);
      expect(session.notes).toEqual([]);
      await session.close();
      expect(await currentCheckpoint(file)).toBeDefined();
    }
  });

  it("of a file that another program appended to or edited is not believed", async () => {
    const { open, file } = await closedSession();
    const lines = (await readFile(file, "utf8")).split("\n");
    const last = JSON.parse(lines.at(-2)!) as TranscriptEntry;
    const added = { ...last, id: "f00d", parentId: last.id };
    await appendFile(file, `${JSON.stringify(added)}\n`);
    expect(await currentCheckpoint(file)).toBeUndefined();
    const session = await open();
    expect(session.branch().map(({ id }) => id)).toContain("f00d");
    await session.close();
    expect(await currentCheckpoint(file)).toBeDefined();

    const edited = (await readFile(file, "utf8")).replace('"two"', '"TWO"');
    await writeFile(file, edited);
    expect(await currentCheckpoint(file)).toBeUndefined();
    const again = await open();
    expect(JSON.stringify(again.branch()[1])).toContain("TWO");
    await again.close();
  });

  it("of a file that another program edits while it is open is not believed afterwards", async () => {
    const { open, file } = await closedSession();
    const session = await open();
    await writeFile(file, (await readFile(file, "utf8")).replace('"two"', '"TWO"'));
    await session.append([{ type: "message", message: { role: "user", content: "four" } }]);
    await session.append([{ type: "message", message: { role: "user", content: "five" } }]);
    await session.close();
    const again = await open();
    expect(JSON.stringify(again.branch()[1])).toContain("TWO");
    expect(again.branch()).toHaveLength(5);
    await again.close();
    expect(await currentCheckpoint(file)).toBeDefined();
  });

  it("of a file that goes on behind it says so, and what stands before is not read again", async () => {
    const { open, file } = await closedSession();
    const before = await readFile(checkpointFile(file), "utf8");
    // So it is when a process is killed between its two writes.
    const whole = await readFile(file, "utf8");
    const one = lineBehind(whole, "f00d", "four");
    await appendFile(file, one + lineBehind(one, "beef", "five"));
    const session = await open();
    expect(session.branch().map(textIn)).toEqual(["one", "two", "three", "four", "five"]);
    const grown = await readFile(checkpointFile(file), "utf8");
    expect(grown.startsWith(before)).toBe(true);
    expect(grown.split("\n")).toHaveLength(before.split("\n").length + 1);
    await session.append([{ type: "message", message: { role: "user", content: "six" } }]);
    await session.close();
    const again = await open();
    expect(again.branch().map(textIn).at(-1)).toBe("six");
    const kept = await readCheckpoint(file);
    await again.close();
    await rm(checkpointFile(file));
    await (await open()).close();
    const made = await readCheckpoint(file);
    if (kept.kind !== "read" || made.kind !== "read") throw new Error("there is a checkpoint");
    expect(rowsOf(kept.checkpoint)).toEqual(rowsOf(made.checkpoint));
    expect(kept.checkpoint.stamp.crc).toBe(made.checkpoint.stamp.crc);
  });

  it("of a process killed between its two writes is added to", async () => {
    const { home, open, file } = await closedSession();
    const { size } = await stat(file);
    const before = await readFile(checkpointFile(file), "utf8");
    const child = startChild(STUCK, [home, "four"]);
    await child.nextLine();
    await vi.waitFor(async () => expect((await stat(file)).size).toBeGreaterThan(size), 120_000);
    child.process.kill("SIGKILL");
    await child.exit;
    await rename(`${checkpointFile(file)}.kept`, checkpointFile(file));
    expect(await currentCheckpoint(file)).toBeUndefined();
    const session = await open();
    expect(session.branch().map(textIn)).toEqual(["one", "two", "three", "four"]);
    expect(session.notes).toMatchObject([{ kind: "lock-taken-over" }]);
    await session.close();
    expect((await readFile(checkpointFile(file), "utf8")).startsWith(before)).toBe(true);
    expect(await currentCheckpoint(file)).toBeDefined();
  });

  it.each([
    ["a torn line", (whole: string) => whole + lineBehind(whole, "f00d", "four").slice(0, -9)],
    [
      "a lost parent",
      (whole: string) => whole + lineBehind(lineBehind(whole, "x", ""), "f00d", ""),
    ],
    ["an id that is taken", (whole: string) => `${whole}${whole.split("\n").at(-2)!}\n`],
    ["a blank message", (whole: string) => whole + lineBehind(whole, "f00d", " ")],
    [
      "half of what belongs together",
      (whole: string) =>
        whole + lineBehind(whole, "f00d", "four").replace(/\}\n$/, ',"__clew":{"group":2}}\n'),
    ],
    [
      "another text at the end of what it says",
      (whole: string) => whole.replace("three", "THREE") + lineBehind(whole, "f00d", "four"),
    ],
  ])("of a file that goes on behind it with %s is made anew", async (_what, change) => {
    const { open, file } = await closedSession();
    const before = await readFile(checkpointFile(file), "utf8");
    await writeFile(file, change(await readFile(file, "utf8")));
    const session = await open();
    const opened = plain(session.branch());
    await session.close();
    expect((await readFile(checkpointFile(file), "utf8")).startsWith(before)).toBe(false);
    await rm(checkpointFile(file));
    const whole = await open();
    expect(plain(whole.branch())).toEqual(opened);
    await whole.close();
  });

  it("has beside it what code knows of the session, which is forgotten with it", async () => {
    const { open, file } = await closedSession();
    const session = await open();
    await session.compaction.ledger.write({ v: 1 } as never);
    await session.close();
    const again = await open();
    expect(await again.compaction.ledger.read()).toEqual({ v: 1 });
    await again.close();
    await appendFile(file, "\n");
    const changed = await open();
    expect(await changed.compaction.ledger.read()).toBeUndefined();
    await changed.close();
  });

  it("that is damaged is known to the doctor, who removes it", async () => {
    const { home, file } = await closedSession();
    const codes = async (fix: boolean) =>
      (await checkSessions({ home, fix })).map(({ code }) => code);
    expect(await codes(false)).toEqual(["sessions"]);
    await writeFile(checkpointFile(file), "not ours\n");
    expect(await codes(false)).toEqual(["sessions", "session-checkpoint-damaged"]);
    expect(await codes(true)).toEqual(["sessions", "session-checkpoint-removed"]);
    expect(await codes(false)).toEqual(["sessions"]);
  });

  it("of a process killed at any moment never says less or more than the file", async () => {
    for (const mode of ["append", "append", "rewrite", "rewrite"]) {
      const { home, store, open } = await newStore();
      const child = startChild(WRITER, [home, mode, "200", "0"]);
      for (let line = 0; line < 4; line++) await child.nextLine();
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 40));
      child.process.kill("SIGKILL");
      await child.exit;
      const shown = plain((await store.read("main"))!.branch);
      const file = transcriptFile(home, "main", (await store.read("main"))!.sessionId);
      const session = await open();
      const opened = plain(session.branch());
      await session.close();
      expect(await currentCheckpoint(file)).toBeDefined();
      await rm(checkpointFile(file));
      expect(plain((await store.read("main"))!.branch)).toEqual(opened);
      expect(shown).toEqual(opened);
    }
  });

  it("of a file that was only touched still holds", async () => {
    const { file } = await closedSession();
    await utimes(file, new Date(), new Date(0));
    expect(await currentCheckpoint(file)).toBeDefined();
  });

  it("of a file that was changed in place, its times set back, does not hold", async () => {
    const { file } = await closedSession();
    const { atime, mtime } = await stat(file);
    const text = await readFile(file, "utf8");
    await writeFile(
      file,
      text.replace(/"parentId":"(.)/, (_, first) => `"parentId":"${first === "a" ? "b" : "a"}`),
    );
    await utimes(file, atime, mtime);
    expect((await stat(file)).size).toBe(text.length);
    expect(await currentCheckpoint(file)).toBeUndefined();
  });

  it("is not made of a file that could not be repaired, so that it is tried again", async () => {
    const { open, file } = await closedSession();
    // Blank: every line is an entry that can be read, and still there is something to repair.
    await appendFile(file, lineBehind(await readFile(file, "utf8"), "f00d", " "));
    await chmod(file, 0o444);
    for (const _ of ["at first", "and again"]) {
      const session = await open();
      expect(session.notes).toMatchObject([{ kind: "not-repaired" }]);
      await session.close();
      expect(await currentCheckpoint(file)).toBeUndefined();
    }
    await chmod(file, 0o644);
    const session = await open();
    expect(session.notes).toMatchObject([
      { kind: "repaired", report: { rewrittenUserMessages: 1 } },
    ]);
    expect(session.branch()).toHaveLength(4);
    await session.close();
    expect(await currentCheckpoint(file)).toBeDefined();
  });

  it("grows by a line with each write, and says the same as one that is made anew", async () => {
    const { open, fileOf } = await newStore();
    const session = await open();
    const file = fileOf(session);
    const say = (content: string) =>
      session.append([{ type: "message", message: { role: "user", content } }]);
    await say("before");
    await session.close();
    const next = await open();
    const before = (await stat(checkpointFile(file))).size;
    await next.append([{ type: "message", message: { role: "user", content: "one" } }]);
    await next.append([{ type: "message", message: { role: "user", content: "two" } }]);
    expect((await stat(checkpointFile(file))).size).toBeGreaterThan(before);
    const grown = await readCheckpoint(file);
    await next.close();
    await rm(checkpointFile(file));
    await (await open()).close();
    const made = await readCheckpoint(file);
    if (grown.kind !== "read" || made.kind !== "read") throw new Error("there is a checkpoint");
    expect(rowsOf(grown.checkpoint)).toEqual(rowsOf(made.checkpoint));
    // What it has of the end is the last write in the one, and more in the other.
    const { end } = made.checkpoint.stamp;
    expect({ ...grown.checkpoint.stamp, end }).toEqual(made.checkpoint.stamp);
  });

  it("is not made for a session that is read as fast without", async () => {
    const home = await temporaryHome();
    const session = await createSessionStore({ home }).open({ key: "main", cwd: home });
    await session.append([{ type: "message", message: { role: "user", content: "short" } }]);
    const file = transcriptFile(home, "main", session.session.sessionId);
    await session.close();
    const folder = await readdir(file.slice(0, file.lastIndexOf("/")));
    expect(folder.filter((name) => name.endsWith(".checkpoint"))).toEqual([]);
  });
});
