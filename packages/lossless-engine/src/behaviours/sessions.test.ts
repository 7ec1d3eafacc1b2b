import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { SESSION, startLife } from "../testing/life.ts";
import { session, setUpRecall } from "../testing/recall.ts";
import { withIds } from "../testing/stored.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

describe("sessions", () => {
  it("21. two writers that meet a session at once tell one conversation", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "real"));
    symlinkSync(join(folder, "real"), join(folder, "link"));
    // Another path is another connection, as another process has one.
    const [one, other] = [startLife({}, join(folder, "real")), startLife({}, join(folder, "link"))];
    const messages = withIds(Array.from({ length: 20 }, (_, index) => user(`note ${index}`)));
    await Promise.all([one.tell(messages), other.tell(messages)]);
    expect(one.stored()).toHaveLength(20);
    expect(new Set(one.stored().map(({ conversation }) => conversation)).size).toBe(1);
  });

  it("22. after a reset a session has a new history, and still finds the old one", async () => {
    const { tell, call } = setUpRecall();
    await tell([user("the old harbour is called Larkspur")]);
    const after = { ...session, sessionId: "s9" };
    await tell([user("begin anew", { timestamp: 9 })], after, "n");
    expect(await call("lcm_grep", { pattern: "larkspur" }, after)).toMatch(/· conversation 1\n/);
    expect(await call("lcm_grep", { pattern: "anew" }, after)).toMatch(/· conversation 2\n/);
  });

  it("22. a transcript that goes on with an earlier one's messages tells the same history", async () => {
    const life = startLife();
    const history = withIds([user("one"), user("two")]);
    await life.tell(history);
    const successor = { ...SESSION, sessionId: "s2" };
    await life.tell([...history, ...withIds([user("three")], "n")], successor);
    expect(life.stored().map(({ conversation }) => conversation)).toEqual([1, 1, 1]);
  });

  it("23. a late call of an earlier run stays with that run", async () => {
    const life = startLife();
    const [old, now] = ["old", "now"].map((sessionId) => ({ ...SESSION, sessionId }));
    await life.tell(withIds([user("first run")], "a"), old);
    await life.tell(withIds([user("second run", { timestamp: 5 })], "b"), now);
    await life.tell(withIds([user("late word of the first")], "c"), old);
    await life.tell(withIds([user("second goes on")], "d"), now);
    expect(life.stored().map(({ conversation }) => conversation)).toEqual([1, 2, 1, 2]);
  });

  it("24. ignored sessions touch nothing, and stateless ones leave nothing in the file", async () => {
    const life = startLife({
      ignoreSessionPatterns: ["agent:*:cron:**"],
      statelessSessionPatterns: ["agent:*:sub"],
    });
    const of = (sessionKey: string) => ({ sessionId: sessionKey, sessionKey });
    const messages = withIds([user("nothing of this stays")]);
    expect(await life.tell(messages, of("agent:main:cron:daily:1"))).toBe(0);
    expect(await life.tell(messages, of("agent:main:sub"))).toBe(1);
    expect(life.stored()).toEqual([]);
  });
});
