import { closeSync, openSync, writeSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { assistant, conversation, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { type Life, SESSION, startLife } from "../testing/life.ts";
import { type SessionFile, sessionFile } from "../testing/session-file.ts";
import { withIds } from "../testing/stored.ts";

const boot = async ({ engine }: Life, file: SessionFile, session = SESSION) =>
  (await engine.bootstrap!({ ...session, sessionFile: file.path })).importedMessages;

describe("import and recovery", () => {
  it("12. what the host wrote while the engine was down is imported once, in order", async () => {
    const [life, file] = [startLife(), sessionFile()];
    file.say(user("one"), user("two"));
    expect(await boot(life, file)).toBe(2);
    const next = await life.again();
    file.say(user("three"), user("four"));
    expect(await boot(next, file)).toBe(2);
    expect(await boot(next, file)).toBe(0);
    expect(next.texts()).toEqual(["one", "two", "three", "four"]);
  });

  it("13. branches that were left stay out, a new root begins anew, circles and lost parents end", async () => {
    const [life, file] = [startLife(), sessionFile()];
    const fork = file.say(user("root"));
    file.say(user("left behind"));
    file.append({ type: "message", message: user("went on") }, fork);
    await boot(life, file);
    expect(life.texts()).toEqual(["root", "went on"]);
    const [rooted, reset] = [startLife(), sessionFile()];
    reset.say(user("before"));
    reset.append({ type: "message", message: user("new root") }, null);
    reset.append({ type: "message", message: user("orphan") }, "nobody");
    await boot(rooted, reset);
    expect(rooted.texts()).toEqual(["new root", "orphan"]);
    const [circled, circle] = [startLife(), sessionFile()];
    circle.append({ type: "message", message: user("a") }, "e1");
    circle.append({ type: "message", message: user("b") }, "e0");
    expect(await boot(circled, circle)).toBe(2);
  });

  it("14. a line that is torn or no entry is passed over, and the rest is read", async () => {
    const [life, file] = [startLife(), sessionFile()];
    file.say(user("one"));
    file.raw('{"type":"message","id":"torn\n\u0000\u0001\n[]\n');
    file.say(user("two"));
    expect(await boot(life, file)).toBe(2);
  });

  it("15. the place up to which a file was read never passes what is not stored", async () => {
    const [life, file] = [startLife(), sessionFile()];
    file.say(user("one"));
    file.raw('{"type":"message","id":"late","parentId":"e0","timestamp":"2026","mess');
    await boot(life, file);
    await life.tell([{ ...user("told meanwhile"), __openclaw: { id: "later" } }]);
    file.raw('age":{"role":"user","content":"two"}}\n');
    expect(await boot(life, file)).toBe(1);
    expect(life.texts()).toEqual(["one", "told meanwhile", "two"]);
  });

  it("16. a long backlog is imported in pieces, between which everybody else has a turn", async () => {
    const [life, file] = [startLife(), sessionFile()];
    file.say(...conversation({ turns: 500 }));
    let turns = 0;
    let isOver = false;
    const tick = () => {
      turns++;
      if (!isOver) setImmediate(tick);
    };
    setImmediate(tick);
    expect(await boot(life, file)).toBe(1_000);
    isOver = true;
    expect(turns).toBeGreaterThan(1_000 / 32);
  });

  it("17. another transcript is never spliced into a history that was there", async () => {
    const [life, file] = [startLife(), sessionFile()];
    file.say(user("ours"));
    await boot(life, file);
    const other = sessionFile("s2", "x");
    other.say(user("theirs"));
    await boot(life, other, { ...SESSION, sessionId: "s2" });
    expect(life.stored().map(({ conversation: of }) => of)).toEqual([1, 2]);
  });

  it("a file of another session is read only where it tells what this one knows", async () => {
    const [life, file] = [startLife(), sessionFile()];
    file.say(user("ours"));
    await boot(life, file);
    const [foreign, copied] = [sessionFile("s2", "x"), sessionFile("s3")];
    foreign.say(user("theirs"));
    copied.say(user("ours"), user("and on"));
    expect(await life.engine.bootstrap!({ ...SESSION, sessionFile: foreign.path })).toEqual({
      bootstrapped: false,
      importedMessages: 0,
      reason: `${foreign.path} is of another session, "s2", and tells none of this one`,
    });
    expect(await boot(life, copied)).toBe(1);
    expect(life.texts()).toEqual(["ours", "and on"]);
  });

  it("18. the first import takes everything, and one message beyond any window breaks nothing", async () => {
    const [life, file] = [startLife(), sessionFile()];
    const huge = "word ".repeat(400_000);
    file.say(...conversation({ turns: 150 }), user(huge), assistant("that was long"));
    expect(await boot(life, file)).toBe(302);
    expect(life.texts()[300]).toBe(huge);
  });

  it("19. of a file that grew, only what was appended is read", async () => {
    const [life, file] = [startLife(), sessionFile()];
    file.say(user("one"), user("two"));
    await boot(life, file);
    // What stands before is not looked at any more: not even that it is no JSON.
    const handle = openSync(file.path, "r+");
    writeSync(handle, "#".repeat(40), 0);
    closeSync(handle);
    expect(await boot(life, file)).toBe(0);
    file.say(user("three"));
    expect(await boot(life, file)).toBe(1);
    expect(life.texts()).toEqual(["one", "two", "three"]);
  });

  it("what is told while a file is read stands behind it", async () => {
    const [life, file] = [startLife(), sessionFile()];
    file.say(...Array.from({ length: 200 }, (_, at) => user(`note ${at}`)));
    const reading = life.engine.bootstrap!({ ...SESSION, sessionFile: file.path });
    await new Promise((resolve) => setImmediate(resolve));
    await life.tell(withIds([user("said meanwhile")], "live"));
    await reading;
    expect(life.texts().slice(-2)).toEqual(["note 199", "said meanwhile"]);
  });

  it("20. an import that fails stores nothing and moves nothing, and the next one takes all", async () => {
    const [life, file] = [startLife(), sessionFile()];
    file.say(user("one"));
    await boot(life, file);
    file.say(user("two"));
    const db = new DatabaseSync(life.file);
    db.exec("CREATE TRIGGER refuse BEFORE INSERT ON message BEGIN SELECT raise(ABORT, 'no'); END");
    await expect(boot(life, file)).rejects.toThrow(/cannot use its database/);
    expect(life.texts()).toEqual(["one"]);
    db.exec("DROP TRIGGER refuse");
    db.close();
    expect(await boot(life, file)).toBe(1);
  });
});
