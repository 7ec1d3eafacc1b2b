import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { conversation, toolResult, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { verifyStore } from "../audit/verify.ts";
import { killedBeforeEachStatement } from "../testing/statement-kills.ts";
import { namedWithIds } from "../testing/stored.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { type Range, unindexed, withTrigrams } from "./candidates.ts";
import { readMessages, storeMessages } from "./messages.ts";
import { indexMore } from "./search-index.ts";
import { type Store, useStore } from "./store.ts";

const session = { sessionId: "s", sessionKey: "agent:main:s" };
const everywhere: Range = { conversations: null, limit: 10_000 };
const storedIn = (store: Store) => readMessages(store, { conversation: 1, limit: 10_000 });

/** Opened, looked at, closed. */
function inDatabase<Answer>(file: string, look: (store: Store) => Answer): Answer {
  const { store, release } = useStore(file);
  try {
    return look(store);
  } finally {
    release();
  }
}

async function isSound(file: string): Promise<boolean> {
  const { store, release } = useStore(file);
  const { isWhole } = await verifyStore(store);
  release();
  const db = new DatabaseSync(file);
  const [answer] = db.prepare("PRAGMA integrity_check").all();
  const broken = db.prepare("PRAGMA foreign_key_check").all();
  db.exec("INSERT INTO words (words) VALUES ('integrity-check')");
  db.close();
  return isWhole && answer?.integrity_check === "ok" && broken.length === 0;
}

const turnsOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    session,
    messages: namedWithIds(
      [
        ...conversation({ turns: 1, tools: 1, toolResultChars: 200 }),
        toolResult({ id: "big", name: "read" }, `${index}`.repeat(5_000)),
        user(`turn${index} ends`),
      ],
      `t${index}-`,
    ),
    from: "told" as const,
    advancementKey: `turn-${index}`,
  }));

describe("a process that is killed before any statement", () => {
  it("leaves each turn whole or not at all, and the turn told again completes it", async () => {
    const turns = turnsOf(3);
    const size = turns[0]!.messages.length;
    const file = join(temporaryFolder(), "lossless.db");
    const whole = JSON.stringify(
      turns.flatMap(({ messages }) => messages.map((each) => each.message)),
    );
    const copies = killedBeforeEachStatement(file, () =>
      inDatabase(file, (store) => {
        for (const turn of turns) storeMessages(store, turn);
      }),
    );
    expect(copies.length).toBeGreaterThan(60);
    let most = 0;
    for (const copy of copies) {
      const before = inDatabase(copy, (store) => storedIn(store).length);
      expect(before % size).toBe(0);
      expect(before).toBeGreaterThanOrEqual(most);
      most = before;
      inDatabase(copy, (store) => {
        const statuses = turns.map((turn) => storeMessages(store, turn).isDuplicate);
        expect(statuses).toEqual(turns.map((_, index) => index < before / size));
        expect(JSON.stringify(storedIn(store).map(({ message }) => message))).toBe(whole);
        while (!indexMore(store, () => false));
        expect(withTrigrams(store, "turn2 ends", everywhere)).toEqual([3 * size]);
      });
      expect(await isSound(copy)).toBe(true);
    }
    expect(most).toBe(3 * size);
  });

  it("leaves the indexes behind the messages, and never a message in them by half", async () => {
    const file = join(temporaryFolder(), "lossless.db");
    const turns = turnsOf(8);
    const copies = killedBeforeEachStatement(file, () =>
      inDatabase(file, (store) => {
        for (const turn of turns) storeMessages(store, turn);
        while (!indexMore(store, () => true));
      }),
    );
    for (const copy of copies.filter((_, index) => index % 5 === 0)) {
      inDatabase(copy, (store) => {
        while (!indexMore(store, () => false));
        const stored = storedIn(store).map(({ seq }) => seq);
        const found = [
          ...withTrigrams(store, "item 1", everywhere),
          ...withTrigrams(store, "ends", everywhere),
        ];
        expect(new Set([...found, ...unindexed(store, everywhere)]).size).toBeLessThanOrEqual(
          stored.length,
        );
        expect(withTrigrams(store, "ends", everywhere)).toHaveLength(stored.length / 6);
      });
      expect(await isSound(copy)).toBe(true);
    }
  });
});

describe("a process that is killed at any moment", () => {
  it("loses nothing of a turn that it said was stored, and keeps no half of another", async () => {
    const file = join(temporaryFolder(), "lossless.db");
    const [turn] = turnsOf(1);
    const size = turn!.messages.length;
    let said = 0;
    for (const stored of [1, 9, 40]) {
      const child = spawn(
        process.execPath,
        [
          "--conditions=@clew/source",
          "--no-warnings",
          join(import.meta.dirname, "__fixtures__/endless-turns.ts"),
          file,
        ],
        { stdio: ["ignore", "pipe", "inherit"] },
      );
      const end = once(child, "close");
      let left = stored;
      for await (const line of createInterface({ input: child.stdout })) {
        said = Math.max(said, Number(line));
        if (--left === 0) child.kill("SIGKILL");
      }
      await end;
      const found = inDatabase(file, (store) => storedIn(store).length);
      expect(found % size).toBe(0);
      expect(found / size).toBeGreaterThanOrEqual(said);
      expect(await isSound(file)).toBe(true);
    }
  });
});
