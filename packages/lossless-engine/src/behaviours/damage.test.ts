// What is left of a database some of whose rows are damaged.
import { DatabaseSync } from "node:sqlite";
import { assistant, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { catchUp } from "../search/catch-up.ts";
import { search } from "../search/search.ts";
import { markDamaged } from "../store/examine.ts";
import { messagesBetween, sessionConversations } from "../store/recall.ts";
import { useStore } from "../store/store.ts";
import { SESSION, startLife } from "../testing/life.ts";
import { withIds } from "../testing/stored.ts";

const LONG = `beginning ${"of a long text ".repeat(500)}end`;
const MESSAGES = withIds([
  user("The first word is barometer."),
  assistant("The second word is lighthouse."),
  user(LONG),
  assistant("The fourth word is barometer too."),
]);

/** Four messages are stored, then `damage` is done to their database. */
async function damagedBy(damage: string) {
  const life = startLife();
  await life.tell(MESSAGES);
  const db = new DatabaseSync(life.file, { enableForeignKeyConstraints: false });
  db.exec(damage);
  db.close();
  const found = async (query: string, mode: "words" | "pattern" = "words") => {
    const { store, release } = useStore(life.file);
    try {
      await catchUp(store);
      const { hits, damaged } = await search(store, {
        ...{ mode, query, scope: null, accepts: () => true, limit: 10, boundMs: 5_000 },
      });
      return { hits: hits.map(({ message }) => message.seq), damaged };
    } finally {
      release();
    }
  };
  const inStore = <Answer>(work: (store: ReturnType<typeof useStore>["store"]) => Answer) => {
    const { store, release } = useStore(life.file);
    try {
      return work(store);
    } finally {
      release();
    }
  };
  return { ...life, found, inStore };
}

describe("a damaged row", () => {
  it.each([
    ["no JSON", "UPDATE message SET body = 'no JSON' WHERE seq = 2"],
    ["nothing that can be unpacked", "UPDATE message SET body = x'ff00ff' WHERE seq = 2"],
    ["without its long text", "DELETE FROM payload"],
    [
      "of a long text in which one word is another",
      "UPDATE payload SET text = replace(text, 'beginning', 'begonning')",
    ],
    ["without the name of its long text", "DELETE FROM payload_use"],
  ])("that is %s takes nothing from the other messages, and is named", async (_, damage) => {
    const { found, inStore, engine, texts } = await damagedBy(damage);
    const seq = damage.includes("seq = 2") ? 2 : 3;
    expect(await found("barometer")).toEqual({ hits: [4, 1], damaged: [seq] });
    expect(await found("baro.eter", "pattern")).toEqual({ hits: [4, 1], damaged: [seq] });
    expect(
      inStore((store) => messagesBetween(store, { scope: null, from: 1, to: 4, limit: 9 })).map(
        ({ isDamaged = false }) => isDamaged,
      ),
    ).toEqual([1, 2, 3, 4].map((each) => each === seq));
    expect(texts()[seq - 1]).toEqual([
      { type: "text", text: "(This message is damaged in the database and cannot be read.)" },
    ]);
    const { ok } = await engine.compact({ ...SESSION, sessionFile: "none", force: true });
    expect(ok).toBe(true);
  });

  it("is whole again when its message is told once more, and is found by its words", async () => {
    const { found, tell, stored } = await damagedBy(
      "UPDATE message SET body = x'ff00ff' WHERE seq = 2; DELETE FROM payload",
    );
    expect(await found("lighthouse")).toEqual({ hits: [], damaged: [3, 2] });
    expect(await tell(MESSAGES)).toBe(0);
    expect(stored().map(({ message }) => message)).toEqual(MESSAGES);
    expect(await found("lighthouse")).toEqual({ hits: [2], damaged: [] });
  });

  it("that was found after it was indexed is replaced by whoever tells of it, too", async () => {
    const { found, inStore, tell, stored } = await damagedBy("SELECT 1");
    expect(await found("lighthouse")).toEqual({ hits: [2], damaged: [] });
    inStore((store) =>
      store.change((sql) => sql("UPDATE message SET body = 'no JSON' WHERE seq = 2").run()),
    );
    expect(await found("lighthouse")).toEqual({ hits: [], damaged: [2] });
    inStore((store) => markDamaged(store, [2]));
    expect(await tell(MESSAGES)).toBe(0);
    expect(stored().map(({ message }) => message)).toEqual(MESSAGES);
  });
});

it.each([
  ["lost with its page", "DELETE FROM message WHERE seq = 2"],
  ["in no conversation any more", "UPDATE message SET conversation = 77 WHERE seq = 2"],
])(
  "a message that is %s is named by the searches that the index leads to it",
  async (_, damage) => {
    const life = startLife();
    await life.tell(MESSAGES);
    const { store, release } = useStore(life.file);
    onTestFinished(release);
    await catchUp(store);
    const db = new DatabaseSync(life.file, { enableForeignKeyConstraints: false });
    db.exec(damage);
    db.close();
    const [conversation] = sessionConversations(store, { ...SESSION, owner: "" });
    const damagedFor = async (query: string, mode: "words" | "pattern") => {
      const scope = [conversation ?? 1];
      const request = { mode, query, scope, accepts: () => true, limit: 10, boundMs: 5_000 };
      return (await search(store, request)).damaged;
    };
    for (const mode of ["words", "pattern"] as const) {
      expect(await damagedFor("lighthouse", mode)).toEqual([2]);
      expect(await damagedFor("barometer", mode)).toEqual([]);
    }
  },
);
