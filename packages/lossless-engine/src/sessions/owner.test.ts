import { join } from "node:path";
import type { SessionRef } from "@clew/plugin-sdk/core";
import { user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { startLife } from "../testing/life.ts";
import { setUpRecall } from "../testing/recall.ts";
import { withIds } from "../testing/stored.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { ownerOf } from "./owner.ts";

const session = { sessionId: "s1", sessionKey: "agent:main:main" };

describe("homes that name one database file", () => {
  it("read each other's sessions of the same key only where somebody asks for all", async () => {
    const shared = join(temporaryFolder(), "shared.db");
    const [mine, theirs] = [setUpRecall(shared), setUpRecall(shared)];
    await mine.tell([user("the kiwi is mine")]);
    await theirs.tell([user("the mango is theirs", { timestamp: 9 })]);
    const found = (home: typeof mine, more: object = {}) =>
      home.call("lcm_grep", { pattern: "kiwi", ...more });
    expect(await found(mine)).toContain("the kiwi is mine");
    expect(await found(theirs)).toMatch(/^Nothing found\. All 1 message/);
    expect(await found(theirs, { allConversations: true })).toContain("the kiwi is mine");
  });

  it("continue no transcript of each other, though its id and its messages are the same", async () => {
    const databasePath = join(temporaryFolder(), "shared.db");
    const [mine, theirs] = [startLife({ databasePath }), startLife({ databasePath })];
    const told = withIds([user("what both were told")]);
    const after: SessionRef = { ...session, sessionId: "s2" };
    for (const home of [mine, theirs]) {
      expect(await home.tell([...told], session)).toBe(1);
      expect(await home.tell([...told, ...withIds([user("more")], "n")], after)).toBe(1);
    }
  });

  it("give their own children what they grant, and nothing of others", async () => {
    const shared = join(temporaryFolder(), "shared.db");
    const [mine, theirs] = [setUpRecall(shared), setUpRecall(shared)];
    const child = { sessionId: "c", sessionKey: "agent:main:subagent:1" };
    await mine.tell([user("the kiwi is mine")]);
    await theirs.tell([user("the mango is theirs", { timestamp: 9 })]);
    await theirs.engine.prepareSubagentSpawn?.({
      parentSessionKey: session.sessionKey,
      parentSessionId: session.sessionId,
      childSessionKey: child.sessionKey,
    } as never);
    await theirs.tell([user("child's own", { timestamp: 10 })], child, "c");
    const asked = async (pattern: string) =>
      theirs.call("lcm_grep", { pattern, allConversations: true }, child);
    expect(await asked("mango")).toContain("the mango is theirs");
    expect(await asked("kiwi")).toContain("Nothing found");
  });
});

describe("the owner of a session", () => {
  it("is its agent's folder as seen from the database, which may be moved along with it", () => {
    expect(ownerOf("/home/a/agents/main", "/home/a/agents/main/clew-lossless/lossless.db")).toBe(
      ownerOf("/moved/agents/main", "/moved/agents/main/clew-lossless/lossless.db"),
    );
    expect(ownerOf("/home/a/agents/main", "/srv/shared.db")).not.toBe(
      ownerOf("/home/b/agents/main", "/srv/shared.db"),
    );
  });

  it("is the same for all hosts that do not say which agent asks", () => {
    expect(ownerOf(undefined, "/srv/shared.db")).toBe("");
  });
});
