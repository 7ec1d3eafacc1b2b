import { DatabaseSync } from "node:sqlite";
import { user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { SESSION, startLife } from "../testing/life.ts";
import { otherSession, session, setUpRecall } from "../testing/recall.ts";
import { sessionFile } from "../testing/session-file.ts";
import { killedBeforeEachStatementOf } from "../testing/statement-kills.ts";
import { withIds } from "../testing/stored.ts";

describe("concurrency and scope", () => {
  it("40. calls at once keep each session's order, and one that fails keeps no other from working", async () => {
    const life = startLife();
    const refused = { ...SESSION, sessionId: "refused", sessionKey: "agent:main:refused" };
    await life.tell(withIds([user("before")]));
    const db = new DatabaseSync(life.file);
    db.exec(
      "CREATE TRIGGER refuse BEFORE INSERT ON message WHEN new.id = 'bad0' BEGIN SELECT raise(ABORT, 'no'); END",
    );
    db.close();
    const calls = Array.from({ length: 20 }, (_, index) => [
      life.tell(withIds([user(`a${index}`)], `a${index}-`)),
      life.tell(withIds([user("bad")], "bad"), refused),
      life.tell(withIds([user(`b${index}`)], `b${index}-`), otherSession),
    ]).flat();
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(20);
    const texts = life.texts().map(String);
    for (const name of ["a", "b"])
      expect(texts.filter((text) => text.startsWith(name) && text !== "before")).toEqual(
        Array.from({ length: 20 }, (_, index) => `${name}${index}`),
      );
  });

  it("40. a child sees what it was granted, within tokens, depth and time", async () => {
    const { engine, tell, call, clock } = setUpRecall();
    await tell([user("the berth is number seven")]);
    await tell([user("another berth, another session")], otherSession, "o");
    const child = { sessionId: "c", sessionKey: "agent:main:child" };
    await engine.prepareSubagentSpawn!({
      ...{ parentSessionKey: session.sessionKey, parentSessionId: session.sessionId },
      ...{ childSessionKey: child.sessionKey, ttlMs: 1_000 },
    });
    const asked = { query: "berth" };
    const shown = await call("lcm_expand", asked, child);
    expect(shown).toContain("number seven");
    expect(shown).not.toContain("another session");
    expect(await call("lcm_expand", { ...asked, tokenCap: 1 }, child)).not.toContain("seven");
    const everywhere = { pattern: "berth", allConversations: true };
    expect(await call("lcm_grep", everywhere, child)).toMatch(/^Nothing of this session is stored/);
    await tell([user("berth, says the child")], child, "c");
    const found = await call("lcm_grep", everywhere, child);
    expect(found).toContain("number seven");
    expect(found).not.toContain("another session");
    clock.ms = 1_001;
    expect(await call("lcm_expand", asked, child)).toBe("(not offered)");
    expect(await call("lcm_grep", everywhere, child)).not.toContain("number seven");
  });

  it("41. after a kill at any statement every message is wholly there, or absent and imported again", async () => {
    const [life, file] = [startLife(), sessionFile()];
    const turn = (index: number) => [user(`ask ${index}`), user(`long ${index} `.repeat(900))];
    file.say(...turn(0));
    await life.engine.bootstrap!({ ...SESSION, sessionFile: file.path });
    file.say(...turn(1), ...turn(2));
    const copies = await killedBeforeEachStatementOf(life.file, () =>
      life.engine.bootstrap!({ ...SESSION, sessionFile: file.path }),
    );
    expect(copies.length).toBeGreaterThan(20);
    const whole = [0, 1, 2].flatMap(turn).map(({ content }) => content);
    const seen = new Set<number>();
    for (const agentDir of copies) {
      const next = startLife({}, agentDir);
      const before = next.texts();
      seen.add(before.length);
      expect(before).toEqual(whole.slice(0, before.length));
      await next.engine.bootstrap!({ ...SESSION, sessionFile: file.path });
      expect(next.texts()).toEqual(whole);
      await next.engine.dispose!();
    }
    expect([...seen]).toEqual([2, 6]);
  });
});
