import {
  appendFile,
  mkdir,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { assistant, toolCall, toolResult } from "@clew/plugin-sdk/testing";
import {
  buildContext,
  type NewTranscriptEntry,
  PRUNE_ENTRY_TYPE,
  type TranscriptEntry,
} from "@clew/plugin-sdk/transcript";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { startChild } from "../testing/child.ts";
import { temporaryHome } from "../testing/home.ts";
import { createSessionStore } from "./store.ts";

const WRITER = new URL("../testing/session-writer.ts", import.meta.url);

const user = (content: string): NewTranscriptEntry => ({
  type: "message",
  message: { role: "user", content },
});
const texts = (branch: readonly TranscriptEntry[]) =>
  branch.map((entry) =>
    entry.type === "message" ? (entry.message as { content: unknown }).content : entry.type,
  );

async function opened(home: string, key = "main") {
  return createSessionStore({ home }).open({ key, cwd: "/somewhere" });
}

describe("a session", () => {
  it("has no file before its first append and a complete version 3 file after it", async () => {
    const home = await temporaryHome();
    const session = await opened(home);
    expect(session.exists()).toBe(false);
    await expect(stat(session.session.sessionFile)).rejects.toThrow();
    await session.append([user("one"), user("two")]);
    expect(session.exists()).toBe(true);
    const [header, first, second] = (await readFile(session.session.sessionFile, "utf8"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(header).toMatchObject({
      type: "session",
      version: 3,
      id: session.session.sessionId,
      cwd: "/somewhere",
      sessionKey: "agent:main:main",
    });
    expect(first).toMatchObject({
      type: "message",
      parentId: null,
      id: expect.stringMatching(/^[0-9a-f]{8}$/),
    });
    expect(second.parentId).toBe(first.id);
    await session.close();
  });

  it("keeps its files readable by their owner only", async () => {
    const home = await temporaryHome();
    const session = await opened(home);
    await session.append([user("one")]);
    await session.close();
    expect((await stat(session.session.sessionFile)).mode & 0o777).toBe(0o600);
    expect((await stat(join(session.session.sessionFile, ".."))).mode & 0o777).toBe(0o700);
  });

  it("gives the same branch array until it grows, and never changes one it gave", async () => {
    const session = await opened(await temporaryHome());
    await session.append([user("one")]);
    const before = session.branch();
    expect(session.branch()).toBe(before);
    await session.append([user("two")]);
    expect(texts(before)).toEqual(["one"]);
    expect(session.branch()[0]).toBe(before[0]);
    expect(texts(session.branch())).toEqual(["one", "two"]);
    await session.close();
  });

  it("keeps the order of appends that were not awaited", async () => {
    const session = await opened(await temporaryHome());
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => session.append([user(String(index))])),
    );
    expect(texts(session.branch())).toEqual(
      Array.from({ length: 50 }, (_, index) => String(index)),
    );
    await session.close();
  });

  it("comes back from its file with every kind of text", async () => {
    const home = await temporaryHome();
    // Blank ones are given a text when the file is opened again.
    const spoken = fc.string({ unit: "grapheme" }).filter((text) => /[\p{L}\p{N}]/u.test(text));
    await fc.assert(
      fc.asyncProperty(
        fc.array(spoken, { minLength: 1, maxLength: 5 }),
        fc.uuid(),
        async (contents, key) => {
          const session = await opened(home, key);
          for (const content of contents) await session.append([user(content)]);
          const before = session.branch();
          await session.close();
          const again = await opened(home, key);
          expect(again.branch()).toEqual(before);
          expect(again.notes).toEqual([]);
          await again.close();
        },
      ),
    );
  });

  it("refuses to write over what another program appended", async () => {
    const session = await opened(await temporaryHome());
    await session.append([user("one")]);
    await appendFile(
      session.session.sessionFile,
      '{"type":"custom","customType":"other","id":"aaaaaaaa","parentId":null,"timestamp":""}\n',
    );
    await expect(session.append([user("two")])).rejects.toMatchObject({ code: "TRANSCRIPT_MOVED" });
    expect(await readFile(session.session.sessionFile, "utf8")).toContain('"other"');
    await session.close();
  });

  it("refuses to write after it was closed", async () => {
    const session = await opened(await temporaryHome());
    await session.append([user("one")]);
    await session.close();
    const before = await readFile(session.session.sessionFile, "utf8");
    await expect(session.append([user("two")])).rejects.toMatchObject({ code: "SESSION_CLOSED" });
    expect(await readFile(session.session.sessionFile, "utf8")).toBe(before);
  });
});

describe("the lock", () => {
  it("keeps a second writer out and says who has it", async () => {
    const home = await temporaryHome();
    const session = await opened(home);
    await expect(opened(home)).rejects.toMatchObject({
      code: "SESSION_LOCKED",
      message: expect.stringContaining("already open in this process"),
    });
    await session.close();
    await (await opened(home)).close();
  });

  it("names the other process that holds a session, and is free at once when that process is killed", async () => {
    const home = await temporaryHome();
    const child = startChild(WRITER, [home, "hold"]);
    await child.nextLine();
    await expect(opened(home)).rejects.toMatchObject({
      code: "SESSION_LOCKED",
      message: expect.stringContaining(`process ${child.process.pid}`),
    });
    child.process.kill("SIGKILL");
    await child.exit;
    const session = await opened(home);
    expect(session.notes).toContainEqual({ kind: "lock-taken-over", pid: child.process.pid });
    await session.close();
    expect(
      (await readdir(join(session.session.sessionFile, ".."))).filter((name) =>
        name.includes(".lock"),
      ),
    ).toEqual([]);
  });

  it("takes over from a process whose pid was given to another one", async () => {
    const home = await temporaryHome();
    const first = await opened(home);
    const lock = `${first.session.sessionFile}.lock`;
    const owner = JSON.parse(await readFile(lock, "utf8"));
    await first.close();
    await writeFile(lock, JSON.stringify({ ...owner, started: "long ago" }));
    const second = await opened(home);
    expect(second.notes).toEqual([{ kind: "lock-taken-over", pid: process.pid }]);
    await second.close();
  });

  it("lets exactly one of many contenders take over from a dead owner", async () => {
    const home = await temporaryHome();
    const first = await opened(home);
    const lock = `${first.session.sessionFile}.lock`;
    const owner = JSON.parse(await readFile(lock, "utf8"));
    await first.close();
    for (let round = 0; round < 10; round++) {
      await writeFile(lock, JSON.stringify({ ...owner, started: "long ago" }));
      const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => opened(home)));
      const winners = outcomes.filter((outcome) => outcome.status === "fulfilled");
      expect(winners).toHaveLength(1);
      await Promise.all(winners.map(({ value }) => value.close()));
    }
  });

  it("is given back when the file cannot be opened as a session", async () => {
    const home = await temporaryHome();
    const first = await opened(home);
    await first.append([user("one")]);
    await first.close();
    await writeFile(first.session.sessionFile, "shopping list\n- milk\n");
    await expect(opened(home)).rejects.toMatchObject({
      code: "TRANSCRIPT_UNREADABLE",
      message: expect.stringContaining("not a session transcript"),
    });
    await expect(stat(`${first.session.sessionFile}.lock`)).rejects.toThrow();
    expect(await readFile(first.session.sessionFile, "utf8")).toContain("milk");
  });
});

describe("an interrupted write", () => {
  it("cut at any byte loses nothing that was whole, keeps the rest aside and reports it", async () => {
    const home = await temporaryHome();
    const session = await opened(home);
    for (const text of ["one", "zwei ☂ 😀", "three"]) await session.append([user(text)]);
    await session.close();
    const file = session.session.sessionFile;
    const whole = await readFile(file);
    const lineEnds = [...whole.entries()]
      .filter(([, byte]) => byte === 10)
      .map(([index]) => index + 1);
    for (let cut = 0; cut < whole.length; cut += 7) {
      await writeFile(file, whole.subarray(0, cut));
      const again = await opened(home);
      // A line that lacks only its line feed is whole.
      const complete = lineEnds.filter((end) => end <= cut + 1).length;
      expect(again.branch()).toHaveLength(Math.max(0, complete - 1));
      const torn = again.notes.filter((note) => note.kind === "torn-tail");
      const good = lineEnds.filter((end) => end <= cut + 1).at(-1) ?? 0;
      if (good < cut) expect(await readFile(torn[0]!.keptIn)).toEqual(whole.subarray(good, cut));
      else expect(torn).toEqual([]);
      await again.append([user("after")]);
      await again.close();
      const third = await opened(home);
      expect(texts(third.branch()).at(-1)).toBe("after");
      expect(third.notes).toEqual([]);
      await third.close();
    }
  });

  it("by kill -9 loses no acknowledged message, at five random moments", async () => {
    const home = await temporaryHome();
    let acknowledged = 0;
    for (let round = 0; round < 5; round++) {
      const child = startChild(WRITER, [home]);
      const [, found] = (await child.nextLine()).split(" ");
      expect(Number(found)).toBeGreaterThanOrEqual(acknowledged);
      for (let line = 0; line < 5; line++) await child.nextLine();
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 40));
      child.process.kill("SIGKILL");
      await child.exit;
      acknowledged = Number(child.lines.at(-1)) + 1;
      const session = await opened(home);
      const contents = texts(session.branch()).map((text) => Number(String(text).split(" ")[0]));
      expect(contents).toEqual(Array.from({ length: contents.length }, (_, index) => index));
      expect(contents.length).toBeGreaterThanOrEqual(acknowledged);
      await session.close();
    }
  });

  it("by kill -9 during a rewrite keeps the whole branch, old or new", async () => {
    const home = await temporaryHome();
    const child = startChild(WRITER, [home, "rewrite"]);
    for (let line = 0; line < 4; line++) await child.nextLine();
    child.process.kill("SIGKILL");
    await child.exit;
    const session = await opened(home);
    expect(session.branch()).toHaveLength(50);
    // The same for every cut inside the last rewrite.
    const file = session.session.sessionFile;
    await session.close();
    const whole = await readFile(file);
    for (let cut = whole.length - 1; cut > whole.length - 9000; cut -= 611) {
      await truncate(file, cut);
      const again = await opened(home);
      expect(again.branch()).toHaveLength(50);
      await again.close();
    }
  });

  it("by a full disk leaves no half entry, says so, and the session goes on when there is room", async () => {
    const home = await temporaryHome();
    const child = startChild(WRITER, [home, "append", "3000"], { shellPrefix: "ulimit -f 16" });
    await child.exit;
    const error = child.lines.find((line) => line.startsWith("error"));
    expect(error).toContain("STORAGE_FAILED");
    expect(error).toContain("nothing was stored");
    const acknowledged = child.lines.filter((line) => /^\d+$/.test(line)).length;
    expect(acknowledged).toBeGreaterThan(0);
    expect(child.lines.at(-1)).toBe(`after ${acknowledged + 1}`);
    const session = await opened(home);
    expect(session.notes).toEqual([]);
    expect(session.branch()).toHaveLength(acknowledged + 1);
    await session.close();
  });
});

describe("a folder that cannot be written", () => {
  it("is told in one sentence with the next step", async () => {
    const home = join(await temporaryHome(), "file");
    await writeFile(home, "no folder");
    await expect(opened(home)).rejects.toMatchObject({
      code: "STORAGE_FAILED",
      message: expect.stringContaining("set CLEW_HOME"),
    });
  });
});

describe("damaged and older files", () => {
  it("takes out lines that are no entries, keeps them beside the file and the branch across them", async () => {
    const home = await temporaryHome();
    const session = await opened(home);
    for (const text of ["one", "two", "three"]) await session.append([user(text)]);
    await session.close();
    const file = session.session.sessionFile;
    const lines = (await readFile(file, "utf8")).split("\n");
    lines[2] = "{broken";
    await writeFile(file, lines.join("\n"));
    const again = await opened(home);
    expect(texts(again.branch())).toEqual(["one", "three"]);
    expect(again.notes).toMatchObject([
      { kind: "repaired", report: { repaired: true, droppedLines: 1 } },
    ]);
    const [note] = again.notes;
    expect(note?.kind === "repaired" && (await readFile(note.keptIn!, "utf8"))).toBe("{broken\n");
    expect(await readFile(file, "utf8")).not.toContain("{broken");
    await again.append([user("four")]);
    await again.close();
    const later = await opened(home);
    expect(texts(later.branch())).toEqual(["one", "three", "four"]);
    expect(later.notes).toEqual([]);
    await later.close();
  });

  it("are mended before an interrupted write is set aside, each reported for itself", async () => {
    const home = await temporaryHome();
    const session = await opened(home);
    await session.append([user("one")]);
    await session.append([
      {
        type: "message",
        message: { role: "assistant", content: [], stopReason: "error" },
      },
    ]);
    await session.append([user("three")]);
    await session.close();
    const file = session.session.sessionFile;
    await appendFile(file, '{"type":"message","id":"99');
    const again = await opened(home);
    expect(again.notes.map(({ kind }) => kind)).toEqual(["repaired", "torn-tail"]);
    expect(again.notes[0]).toMatchObject({
      report: { droppedLines: 0, rewrittenAssistantMessages: 1 },
      keptIn: undefined,
    });
    expect(again.branch()[1]).toMatchObject({ message: { content: [{ type: "text" }] } });
    await again.append([user("four")]);
    expect(again.branch()).toHaveLength(4);
    await again.close();
    const names = await readdir(join(home, "agents/main/sessions"));
    expect(names.filter((name) => name.includes(".torn-"))).toHaveLength(1);
    expect(names.filter((name) => /repair|removed|bak/.test(name))).toEqual([]);
  });

  it("are repaired inside of a finished rewrite, which then does not look interrupted", async () => {
    const home = await temporaryHome();
    const session = await opened(home);
    const [first] = await session.append([user("one"), user("two"), user("three")]);
    await session.rewrite({
      replacements: [{ entryId: first!.id, message: { role: "user", content: "uno" } }],
    });
    await session.close();
    const file = session.session.sessionFile;
    const lines = (await readFile(file, "utf8")).split("\n");
    lines[5] = "{broken";
    await writeFile(file, lines.join("\n"));
    const again = await opened(home);
    expect(texts(again.branch())).toEqual(["uno", "three"]);
    expect(again.notes).toMatchObject([{ kind: "repaired", report: { droppedLines: 1 } }]);
    await again.close();
    expect(await readFile(file, "utf8")).not.toContain("{broken");
  });

  it("keeps the branch across an entry of a kind it does not know", async () => {
    const home = await temporaryHome();
    const session = await opened(home);
    const [first] = await session.append([user("one")]);
    await session.close();
    const line = JSON.stringify({
      type: "from_the_future",
      id: "ffffffff",
      parentId: first!.id,
      timestamp: "2030-01-01T00:00:00.000Z",
    });
    await appendFile(session.session.sessionFile, `${line}\n`);
    const again = await opened(home);
    expect(texts(again.branch())).toEqual(["one", "custom"]);
    await again.append([user("two")]);
    expect(again.branch().at(-1)!.parentId).toBe("ffffffff");
    await again.close();
  });

  it("migrates version 1, keeps the original, and continues it", async () => {
    const home = await temporaryHome();
    const folder = join(home, "agents/main/sessions");
    await mkdir(folder, { recursive: true });
    const stamp = "2025-01-01T00:00:00.000Z";
    const original = [
      { type: "session", id: "old", timestamp: stamp, cwd: "/x" },
      { type: "message", timestamp: stamp, message: { role: "user", content: "one" } },
      { type: "message", timestamp: stamp, message: { role: "user", content: "two" } },
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join("");
    await writeFile(join(folder, "old.jsonl"), original);
    const session = await opened(home, "old");
    expect(texts(session.branch())).toEqual(["one", "two"]);
    await session.append([user("three")]);
    await session.close();
    expect(await readFile(join(folder, "old.jsonl.v1"), "utf8")).toBe(original);
    const again = await opened(home, "old");
    expect(texts(again.branch())).toEqual(["one", "two", "three"]);
    expect(again.notes).toEqual([]);
    await again.close();
  });
});

describe("a rewrite", () => {
  it("re-appends the suffix with the replacement and leaves the old entries in the file", async () => {
    const home = await temporaryHome();
    const session = await opened(home);
    const [, second] = await session.append([user("one"), user("two long"), user("three")]);
    const before = await readFile(session.session.sessionFile, "utf8");
    const result = await session.rewrite({
      replacements: [{ entryId: second!.id, message: { role: "user", content: "2" } }],
    });
    expect(result).toMatchObject({
      changed: true,
      bytesFreed: "two long".length - 1,
      rewrittenEntries: 1,
    });
    expect(texts(session.branch())).toEqual(["one", "2", "three"]);
    expect((await readFile(session.session.sessionFile, "utf8")).startsWith(before)).toBe(true);
    await session.close();
    const again = await opened(home);
    expect(texts(again.branch())).toEqual(["one", "2", "three"]);
    expect(JSON.stringify(again.branch())).not.toContain("__clew");
    await again.close();
  });

  it("keeps what was pruned pruned, although the pruned entries have new names", async () => {
    const session = await opened(await temporaryHome());
    const call = toolCall("read_file", {}, "c1");
    const [first, , result] = await session.append([
      user("read"),
      { type: "message", message: { ...assistant([call]), stopReason: "toolUse" } },
      { type: "message", message: toolResult(call, "a long result") },
    ]);
    const data = {
      v: 1,
      entryIds: [result!.id],
      placeholder: "[cleared]",
      tokensFreed: 3,
      reason: "compaction",
    };
    await session.append([{ type: "custom", customType: PRUNE_ENTRY_TYPE, data }]);
    await session.rewrite({
      replacements: [{ entryId: first!.id, message: { role: "user", content: "read it" } }],
    });
    expect(JSON.stringify(buildContext(session.branch()).items.at(-1)!.message)).toContain(
      "[cleared]",
    );
    await session.close();
  });
});

describe("the mark of a rewrite", () => {
  it("inside a message means nothing", async () => {
    const home = await temporaryHome();
    const session = await opened(home);
    const call = {
      type: "toolCall" as const,
      id: "c",
      name: "n",
      arguments: { __clew: { group: 9 } },
    };
    await session.append([
      user("one"),
      { type: "message", message: { role: "assistant", content: [call], stopReason: "toolUse" } },
    ]);
    await session.close();
    const again = await opened(home);
    expect(again.branch()).toHaveLength(2);
    expect(again.notes).toEqual([]);
    await again.close();
  });
});

const SUCCESSOR = "5ucce550-r000";

/** What an engine that rotates transcripts leaves behind. */
async function writeSuccessor(file: string, id = SUCCESSOR) {
  const header = {
    type: "session",
    version: 3,
    id,
    timestamp: "2030-01-01T00:00:00.000Z",
    cwd: "/",
  };
  const entry = {
    id: "a0000000",
    parentId: null,
    timestamp: header.timestamp,
    ...user("carried over"),
  };
  await writeFile(file, `${JSON.stringify(header)}\n${JSON.stringify(entry)}\n`);
}

describe("a session that moves on", () => {
  it("to a new transcript keeps the old one, listed and readable, also when the index is lost", async () => {
    const home = await temporaryHome();
    const store = createSessionStore({ home });
    const first = await opened(home);
    await first.append([user("before")]);
    await first.close();
    const { archivedAs } = await store.renew("main");
    const second = await opened(home);
    expect(second.branch()).toEqual([]);
    await second.append([user("after")]);
    await second.close();
    const keys = async () => (await store.list()).map(({ key }) => key).sort();
    expect(await keys()).toEqual(["agent:main:main", archivedAs]);
    expect(texts((await store.read(archivedAs!))!.branch)).toEqual(["before"]);
    await rm(join(home, "agents/main/sessions/sessions.json"));
    expect(await keys()).toEqual(["agent:main:main", archivedAs]);
    expect(texts((await store.read("main"))!.branch)).toEqual(["after"]);
  });

  it("from nothing archives nothing, and twice in a second keeps both", async () => {
    const home = await temporaryHome();
    const store = createSessionStore({ home });
    expect((await store.renew("main")).archivedAs).toBeNull();
    const now = () => Date.parse("2026-03-01T08:00:00Z");
    const archived: (string | null)[] = [];
    for (const text of ["one", "two"]) {
      const session = await store.open({ key: "main", cwd: home, now });
      await session.append([user(text)]);
      await session.close();
      archived.push((await store.renew("main")).archivedAs);
    }
    expect(archived).toEqual([
      "agent:main:main.20260301-080000",
      "agent:main:main.20260301-080000-2",
    ]);
    expect(await store.read("main")).toBeNull();
  });

  it("to an engine's successor is there for everybody, with the old transcript listed", async () => {
    const home = await temporaryHome();
    const store = createSessionStore({ home });
    const session = await opened(home);
    await session.append([user("before")]);
    const file = join(home, "agents/main/sessions", `${SUCCESSOR}.jsonl`);
    await writeSuccessor(file);
    const adopted = await store.adopt({
      from: session.session,
      sessionId: SUCCESSOR,
      sessionFile: file,
      cwd: home,
    });
    expect(texts(adopted!.branch())).toEqual(["carried over"]);
    expect(adopted!.session).toMatchObject({ sessionId: SUCCESSOR, sessionKey: "agent:main:main" });
    await session.close();
    await adopted!.append([user("after")]);
    await adopted!.close();
    expect(texts((await store.read("main"))!.branch)).toEqual(["carried over", "after"]);
    expect((await store.list()).map(({ sessionId }) => sessionId)).toHaveLength(2);
  });

  it("stays where it is when it moved meanwhile, and leaves no lock", async () => {
    const home = await temporaryHome();
    const store = createSessionStore({ home });
    const session = await opened(home);
    await session.append([user("before")]);
    await writeSuccessor(join(home, "agents/main/sessions", `${SUCCESSOR}.jsonl`));
    await store.renew("main");
    expect(
      await store.adopt({
        from: session.session,
        sessionId: SUCCESSOR,
        sessionFile: undefined,
        cwd: home,
      }),
    ).toBeUndefined();
    await session.close();
    expect(
      (await readdir(join(home, "agents/main/sessions"))).filter((name) => name.includes("lock")),
    ).toEqual([]);
  });

  it("refuses a successor that is none, elsewhere, or another's", async () => {
    const home = await temporaryHome();
    const store = createSessionStore({ home });
    const session = await opened(home);
    await session.append([user("before")]);
    const adopt = (sessionId: string, sessionFile?: string) =>
      store.adopt({ from: session.session, sessionId, sessionFile, cwd: home });
    await expect(adopt("nowhere")).rejects.toThrow("there is no file");
    await expect(adopt("../../escape")).rejects.toThrow("not a session id");
    const elsewhere = join(home, `${SUCCESSOR}.jsonl`);
    await writeSuccessor(elsewhere);
    await writeSuccessor(join(home, "agents/main/sessions", `${SUCCESSOR}.jsonl`));
    await expect(adopt(SUCCESSOR, elsewhere)).rejects.toThrow(
      "outside the agent's sessions folder",
    );
    await writeSuccessor(join(home, "agents/main/sessions/other.jsonl"), "someone-else");
    await expect(adopt("other")).rejects.toThrow('calls itself "someone-else"');
    await session.append([user("after")]);
    await session.close();
    expect(texts((await store.read("main"))!.branch)).toEqual(["before", "after"]);
  });
});

describe("the index", () => {
  it("is made again from the files when it is lost or unreadable", async () => {
    const home = await temporaryHome();
    for (const key of ["main", "work: plans"]) {
      const session = await opened(home, key);
      await session.append([user(key)]);
      await session.close();
    }
    const index = join(home, "agents/main/sessions/sessions.json");
    for (const spoil of [() => rm(index), () => writeFile(index, "{ not json")]) {
      await spoil();
      const session = await opened(home, "agent:main:work: plans");
      expect(texts(session.branch())).toEqual(["work: plans"]);
      await session.close();
      expect(Object.keys(JSON.parse(await readFile(index, "utf8"))).sort()).toEqual([
        "agent:main:main",
        "agent:main:work: plans",
      ]);
    }
  });

  it("gives a key one transcript although several ask for it at once", async () => {
    const home = await temporaryHome();
    const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => opened(home, "new")));
    const winners = outcomes
      .filter((outcome) => outcome.status === "fulfilled")
      .map(({ value }) => value);
    expect(winners).toHaveLength(1);
    await winners[0]!.close();
  });

  it("lists sessions newest first, without those that hold nothing", async () => {
    const home = await temporaryHome();
    const store = createSessionStore({ home });
    await (await opened(home, "empty")).close();
    const session = await opened(home, "agent:other:notes");
    await session.append([user("x")]);
    expect(await store.list()).toMatchObject([
      { key: "agent:other:notes", agentId: "other", sessionId: session.session.sessionId },
    ]);
    expect((await store.read("agent:other:notes"))?.branch.map(({ id }) => id)).toEqual(
      session.branch().map(({ id }) => id),
    );
    expect(await store.read("nothing")).toBeNull();
    await session.close();
  });

  it("refuses names that are none", async () => {
    const home = await temporaryHome();
    for (const key of ["", "  ", "agent:", "agent:../x:y", "a\nb", "a\ud83d"])
      await expect(opened(home, key)).rejects.toMatchObject({
        code: "SESSION_NAME_INVALID",
      });
  });

  it.each(["agents", "agents/main", "agents/main/sessions"])(
    "writes nothing through a link in the place of the folder %s",
    async (folder) => {
      const [home, elsewhere] = [await temporaryHome(), await temporaryHome()];
      await mkdir(join(home, folder, ".."), { recursive: true });
      await symlink(elsewhere, join(home, folder));
      const refused = { code: "STORAGE_FAILED", message: expect.stringContaining("is a link") };
      await expect(opened(home)).rejects.toMatchObject(refused);
      expect(await readdir(elsewhere)).toEqual([]);
    },
  );
});
