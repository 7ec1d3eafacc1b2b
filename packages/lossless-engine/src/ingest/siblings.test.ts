import { appendFileSync, copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EngineRow } from "@clew/plugin-sdk/core";
import { assistant, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { engineOn } from "../engine.ts";
import { ownRows } from "../sharing/own-rows.ts";
import { sharedIn } from "../sharing/plan-sharing.ts";
import { createStores } from "../stores.ts";
import { startMachine } from "../testing/machine.ts";
import { otherSession, session, setUpRecall } from "../testing/recall.ts";
import { sessionFile } from "../testing/session-file.ts";
import { shareSessions } from "../testing/shared-sessions.ts";
import { temporaryStore } from "../testing/stored.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { importFile } from "./import-file.ts";
import { createSiblings, unreadBeside } from "./siblings.ts";

const MAIN = session.sessionKey;

/** The sessions of an agent, one of which moved on to another transcript. */
function agentFiles() {
  const folder = temporaryFolder();
  const at = (id: string, sessionKey: string, day: number) => {
    const path = join(folder, `${id}.jsonl`);
    const timestamp = `2026-01-0${day}T00:00:00.000Z`;
    return sessionFile(id, `${id}-`, { path, sessionKey, timestamp });
  };
  const first = at("before-reset", MAIN, 1);
  first.say(user("The vault opens with QX-4011."), assistant("Noted."));
  const own = at(session.sessionId, MAIN, 3);
  own.say(user("hi"), assistant("Hello."));
  const other = at(otherSession.sessionId, otherSession.sessionKey, 2);
  other.say(user("The ladder is under the stairs."), assistant("Good."));
  return { folder, first, own, other };
}

describe("a new database", () => {
  it("is filled with what the session said before a reset, which stands first", async () => {
    const { own } = agentFiles();
    const { engine, call } = setUpRecall();
    await engine.bootstrap!({ ...session, sessionFile: own.path });
    const found = await call("lcm_grep", { pattern: "QX-4011" });
    expect(found).toMatch(/^#1 /m);
    expect(await call("lcm_grep", { pattern: "Hello" })).toMatch(/^#[2-9] /m);
  });

  it("is filled with what the agent's other sessions said, before a search of all answers", async () => {
    const { own } = agentFiles();
    const { engine, call } = setUpRecall();
    await engine.bootstrap!({ ...session, sessionFile: own.path });
    const asked = { pattern: "ladder" };
    expect(await call("lcm_grep", { ...asked, allConversations: true })).toContain("stairs");
    expect(await call("lcm_grep", asked)).toContain("Nothing found");
  });

  it("is filled with earlier transcripts in the order in which they were begun", async () => {
    const { folder, own } = agentFiles();
    for (const [at, id] of ["between-a", "between-b"].entries()) {
      const path = join(folder, `${id}.jsonl`);
      const timestamp = `2026-01-02T0${5 - at}:00:00.000Z`;
      sessionFile(id, `${id}-`, { path, sessionKey: MAIN, timestamp }).say(user(`It is ${id}.`));
    }
    const { engine, call } = setUpRecall();
    await engine.bootstrap!({ ...session, sessionFile: own.path });
    const placeOf = async (pattern: string) =>
      Number(/^#(\d+) /m.exec(await call("lcm_grep", { pattern }))?.[1]);
    const places = ["QX-4011", "between-b", "between-a"].map(placeOf);
    expect(await Promise.all(places)).toEqual([1, 3, 4]);
  });

  it("is filled so too where the old one was moved away while it was open", async () => {
    const { own } = agentFiles();
    const database = join(temporaryFolder(), "lossless.db");
    const { engine, call } = setUpRecall(database);
    await engine.bootstrap!({ ...session, sessionFile: own.path });
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${database}${suffix}`, { force: true });
    await engine.assemble({ ...session, messages: [user("hi")], tokenBudget: 10_000 });
    expect(await call("lcm_grep", { pattern: "QX-4011" })).toContain("vault");
    const all = { pattern: "ladder", allConversations: true };
    expect(await call("lcm_grep", all)).toContain("stairs");
  });

  it("takes no copies, nothing of sessions that are not kept, and of the others what is new", async () => {
    const { folder, own, other, first } = agentFiles();
    copyFileSync(first.path, join(folder, "copy.jsonl"));
    appendFileSync(join(folder, "notes.jsonl"), "no session\n");
    const agentDir = temporaryFolder();
    const stored = async (more: { ignoreSessionPatterns?: string[] }) => {
      const stores = createStores(agentDir, more);
      const engine = engineOn(stores);
      onTestFinished(() => engine.dispose?.());
      await engine.bootstrap!({ ...session, sessionFile: own.path });
      await unreadBeside(stores.ofAgent(), null);
      const { text } = await engine.control({ operation: "doctor" });
      return /^\d+ messages of \d+ conversations?/.exec(text)?.[0];
    };
    const ignoring = { ignoreSessionPatterns: [otherSession.sessionKey] };
    expect(await stored(ignoring)).toBe("4 messages of 2 conversations");
    expect(await stored({})).toBe("6 messages of 3 conversations");
    other.say(user("And the rope?"));
    expect(await stored({})).toBe("7 messages of 3 conversations");
  });

  it("is not filled for the sake of a session that leaves nothing in it", async () => {
    const { own } = agentFiles();
    const store = temporaryStore();
    const siblings = createSiblings({
      isKept: ({ sessionKey }) => sessionKey !== MAIN,
      reader: () => expect.unreachable("nothing is to be read"),
    });
    await siblings.readBeside(store, { ...session, owner: "" }, own.path);
    expect(await unreadBeside(store, null)).toBeUndefined();
  });

  it("reads no file again that it holds to its end, whoever starts next", async () => {
    const { own, other } = agentFiles();
    const store = temporaryStore();
    const started = async () => {
      const asked: string[] = [];
      const siblings = createSiblings({
        isKept: () => true,
        reader: (to) => (of, path) => {
          asked.push(of.sessionId);
          return importFile(to, { session: of, path });
        },
      });
      await siblings.readBeside(store, { ...session, owner: "" }, own.path);
      await unreadBeside(store, null);
      return asked;
    };
    expect(await started()).toEqual(["before-reset", otherSession.sessionId]);
    expect(await started()).toEqual([]);
    other.say(user("And the rope?"));
    expect(await started()).toEqual([otherSession.sessionId]);
  });

  it("is filled from files whose first lines are long", async () => {
    const { own, first } = agentFiles();
    const [head, ...rest] = readFileSync(first.path, "utf8").split("\n");
    const long = JSON.stringify({ ...JSON.parse(head!), note: "x".repeat(100_000) });
    writeFileSync(first.path, [long, ...rest].join("\n"));
    const { engine, call } = setUpRecall();
    await engine.bootstrap!({ ...session, sessionFile: own.path });
    expect(await call("lcm_grep", { pattern: "QX-4011" })).toMatch(/^#1 /m);
  });

  it("says of files that could not be read which and why, each where it is asked of", async () => {
    const { own, other } = agentFiles();
    const [, ...headless] = readFileSync(other.path, "utf8").split("\n");
    writeFileSync(other.path, headless.join("\n"));
    const { engine, call } = setUpRecall();
    await engine.bootstrap!({ ...session, sessionFile: own.path });
    const asked = { pattern: "ladder" };
    const told = `Not all session files could be read, so that what was said there may be missing here: ${otherSession.sessionId}.jsonl: its first line is no header.`;
    expect(await call("lcm_grep", { ...asked, allConversations: true })).toContain(told);
    expect(await call("lcm_grep", asked)).not.toContain("Not all session files");
  });

  it("says in the session itself that an earlier transcript could not be read", async () => {
    const { own } = agentFiles();
    const store = temporaryStore();
    const siblings = createSiblings({
      isKept: () => true,
      reader:
        () =>
        async ({ sessionKey }) =>
          sessionKey === MAIN ? { imported: 0, reason: "it is locked" } : { imported: 2 },
    });
    await siblings.readBeside(store, { ...session, owner: "" }, own.path);
    const told = "before-reset.jsonl: it is locked";
    expect(await unreadBeside(store, MAIN)).toContain(told);
    expect(await unreadBeside(store, null)).toContain(told);
    expect(await unreadBeside(store, otherSession.sessionKey)).toBeUndefined();
  });

  it("goes on with the other files where one fails, and tries that one again", async () => {
    const { own } = agentFiles();
    const store = temporaryStore();
    const [asked, done] = [[] as string[], new Set<string>()];
    let isBroken = true;
    const engine = () =>
      createSiblings({
        ...{ isKept: () => true, done },
        reader:
          () =>
          async ({ sessionId }) => {
            asked.push(sessionId);
            if (isBroken && sessionId === "before-reset") throw new Error("disk on fire");
            return { imported: 2 };
          },
      });
    const readBeside = () => engine().readBeside(store, { ...session, owner: "" }, own.path);
    await expect(readBeside()).rejects.toThrow("disk on fire");
    expect(await unreadBeside(store, MAIN)).toContain("before-reset.jsonl: disk on fire");
    isBroken = false;
    await readBeside();
    expect(await unreadBeside(store, null)).toBeUndefined();
    expect(asked).toEqual(["before-reset", "before-reset", otherSession.sessionId]);
    // Another engine of the same host knows.
    await readBeside();
    expect(asked).toHaveLength(3);
  });

  it("takes no file that does not say whose it is, and none of another agent", async () => {
    const { folder, own } = agentFiles();
    const key = "agent:ops:main";
    const timestamp = "2026-01-01T00:00:00.000Z";
    const theirs = sessionFile("ops", "o", {
      path: join(folder, "ops.jsonl"),
      sessionKey: key,
      timestamp,
    });
    theirs.say(user("The ops secret is walrus."));
    const [head, ...rest] = readFileSync(theirs.path, "utf8").split("\n");
    const { sessionKey: _, ...keyless } = { ...JSON.parse(head!), id: "nobody" };
    writeFileSync(join(folder, "nobody.jsonl"), [JSON.stringify(keyless), ...rest].join("\n"));
    const { engine, call } = setUpRecall();
    await engine.bootstrap!({ ...session, sessionFile: own.path });
    expect(await call("lcm_grep", { pattern: "walrus", allConversations: true })).toMatch(
      /^Nothing found/,
    );
  });

  it("is filled from archives of a reset and from transcripts of topics", async () => {
    const { folder, own } = agentFiles();
    const keep = (name: string, id: string, sessionKey: string, text: string) =>
      sessionFile(id, `${id}-`, {
        ...{ path: join(folder, name), sessionKey },
        timestamp: "2026-01-01T00:00:00.000Z",
      }).say(user(text));
    keep("old.jsonl.reset.2026-01-02T00-00-00.000Z", "old", MAIN, "The archive says marmot.");
    keep("tid-topic-7.jsonl", "tid", "agent:main:group:1:topic:7", "The topic says ibex.");
    keep("gone.jsonl.deleted.2026-01-02T00-00-00.000Z", "gone", MAIN, "The deleted says lynx.");
    const { engine, call } = setUpRecall();
    await engine.bootstrap!({ ...session, sessionFile: own.path });
    expect(await call("lcm_grep", { pattern: "marmot" })).toMatch(/^1 found/);
    const all = (pattern: string) => call("lcm_grep", { pattern, allConversations: true });
    expect(await all("ibex")).toMatch(/^1 found/);
    expect(await all("lynx")).toMatch(/^Nothing found/);
  });

  it("is waited for to its end by who asks about all sessions, and not about one", async () => {
    const { own } = agentFiles();
    const store = temporaryStore();
    const { promise: others, reject } = Promise.withResolvers<never>();
    const siblings = createSiblings({
      isKept: () => true,
      reader:
        () =>
        ({ sessionKey }) =>
          sessionKey === MAIN ? Promise.resolve({ imported: 2 }) : others,
    });
    await siblings.readBeside(store, { ...session, owner: "" }, own.path);
    expect(await unreadBeside(store, otherSession.sessionKey)).toBeUndefined();
    const told = unreadBeside(store, null);
    reject(new Error("the disk went away"));
    expect(await told).toContain(`${otherSession.sessionId}.jsonl: the disk went away`);
  });

  it("reads what failed in the background again at the next start of a session", async () => {
    const { own } = agentFiles();
    const store = temporaryStore();
    let isLocked = true;
    const read: string[] = [];
    const siblings = createSiblings({
      isKept: () => true,
      reader:
        () =>
        async ({ sessionId, sessionKey }) => {
          if (isLocked && sessionKey !== MAIN) throw new Error("another program is writing to it");
          read.push(sessionId);
          return { imported: 2 };
        },
    });
    const start = () => siblings.readBeside(store, { ...session, owner: "" }, own.path);
    await start();
    expect(await unreadBeside(store, null)).toContain("another program is writing");
    isLocked = false;
    await start();
    expect(await unreadBeside(store, null)).toBeUndefined();
    expect(read).toContain(otherSession.sessionId);
  });

  it("gives no second numbers to what another machine shared of a session", async () => {
    const { own, other } = agentFiles();
    const sessions = shareSessions({ gaps: true });
    const [one, two] = [sessions.machine(), sessions.machine()];
    one.open(otherSession.sessionId);
    const first = startMachine(one);
    await first.engine.bootstrap!({ ...otherSession, sessionFile: other.path });
    const shared = sessions.rows(otherSession.sessionId);
    sessions.append(otherSession.sessionId, await first.engine.storedMessages(otherSession));
    // The other machine only has its file, and opens another session beside it.
    two.open(session.sessionId);
    const second = startMachine(two);
    await second.engine.bootstrap!({ ...session, sessionFile: own.path });
    await unreadBeside(second.stores.ofAgent(), null);
    const { rows } = ownRows(second.stores.ofAgent(), {
      ...otherSession,
      owner: second.stores.owner,
    })!;
    expect(numbersOf(rows)).toEqual(numbersOf(shared));
  });
});

/** Of messages that were told, with the conversation they are in. */
function numbersOf(rows: readonly EngineRow[]) {
  const { conversation, messages } = sharedIn(rows);
  return [conversation, ...[...messages.values()].map(({ seq, name }) => [seq, name])];
}
