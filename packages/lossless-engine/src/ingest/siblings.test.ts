import { appendFileSync, copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { assistant, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { engineOn } from "../engine.ts";
import { createStores } from "../stores.ts";
import { otherSession, session, setUpRecall } from "../testing/recall.ts";
import { sessionFile } from "../testing/session-file.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { othersRead } from "./siblings.ts";

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
      await othersRead(stores.ofAgent());
      const { text } = await engine.control({ operation: "doctor" });
      return /^\d+ messages of \d+ conversations?/.exec(text)?.[0];
    };
    const ignoring = { ignoreSessionPatterns: [otherSession.sessionKey] };
    expect(await stored(ignoring)).toBe("4 messages of 2 conversations");
    expect(await stored({})).toBe("6 messages of 3 conversations");
    other.say(user("And the rope?"));
    expect(await stored({})).toBe("7 messages of 3 conversations");
  });
});
