// Ranks the turns of a dialogue by SQLite's own BM25.
import { DatabaseSync } from "node:sqlite";

/** Ranks texts by a question, best first; those that hold none of its words are left out. */
export type Ranking = (question: string) => number[];

/** Porter stems, k1 1.2 and b 0.75; any word of the question may hold. */
export function bm25Of(texts: readonly string[]): Ranking {
  const db = new DatabaseSync(":memory:");
  db.exec("CREATE VIRTUAL TABLE turn USING fts5(text, tokenize = 'porter unicode61')");
  const add = db.prepare("INSERT INTO turn (rowid, text) VALUES (?, ?)");
  for (const [at, text] of texts.entries()) add.run(at + 1, text);
  const find = db.prepare(
    "SELECT rowid AS at FROM turn WHERE turn MATCH ? ORDER BY bm25(turn), rowid",
  );
  return (question) => {
    const words = question.match(/[\p{L}\p{N}]+/gu) ?? [];
    if (words.length === 0) return [];
    return find.all(words.map((word) => `"${word}"`).join(" OR ")).map(({ at }) => Number(at) - 1);
  };
}
