import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { user } from "@clew/plugin-sdk/testing";
import { expect, it, onTestFinished } from "vitest";
import { namedWithIds } from "../testing/stored.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { withTrigrams, withWords } from "./candidates.ts";
import { holdingsOf } from "./health.ts";
import { storeMessages } from "./messages.ts";
import { migrate } from "./migrate.ts";
import { MIGRATIONS } from "./migrations.ts";
import { backlogOf, indexMore } from "./search-index.ts";
import { useStore } from "./store.ts";

const everywhere = { conversations: null, limit: 10 };

it("a database of the second version keeps its messages, counts them and is indexed again", () => {
  const file = join(temporaryFolder(), "lossless.db");
  const old = new DatabaseSync(file);
  migrate(old, file, MIGRATIONS.slice(0, 2));
  old.exec(`
    INSERT INTO conversation (id, turns) VALUES (1, 1);
    INSERT INTO transcript (session_id, session_key, conversation) VALUES ('s', 'k', 1);
    INSERT INTO message VALUES (1, 1, 'a', 1, 'user', 1, 0, '{"role":"user","content":"old lighthouses"}');
    INSERT INTO words (rowid, text) VALUES (1, 'old lighthouses');
    INSERT INTO trigrams (rowid, text) VALUES (1, 'old lighthouses');
    UPDATE watermark SET indexed = 1;
  `);
  old.close();
  const { store, release } = useStore(file);
  onTestFinished(release);
  storeMessages(store, {
    session: { sessionId: "s", sessionKey: "k" },
    messages: namedWithIds([user("a new lighthouse")], "b"),
    from: "told",
  });
  expect(holdingsOf(store)).toMatchObject({ messages: 2, conversations: 1 });
  expect(backlogOf(store)).toBe(2);
  while (!indexMore(store, () => true));
  expect(withWords(store, "lighthouse", everywhere)).toEqual([2, 1]);
  expect(withTrigrams(store, "ld light", everywhere)).toEqual([1]);
});
