import { DatabaseSync } from "node:sqlite";
import { assistant, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { startLife } from "../testing/life.ts";
import { withIds } from "../testing/stored.ts";

describe("a database that takes messages and does not hold them", () => {
  it.each([
    ["keeps them from its table", "BEFORE INSERT ON message BEGIN SELECT RAISE(IGNORE); END"],
    [
      "removes them at once",
      "AFTER INSERT ON link BEGIN DELETE FROM message WHERE seq = new.message; END",
    ],
  ])("and %s is an alarm of the turn that was told", async (_, trigger) => {
    const { file, tell } = startLife();
    await tell(withIds([user("one"), assistant("so it is")]));
    const db = new DatabaseSync(file);
    db.exec(`CREATE TRIGGER stop ${trigger}`);
    await expect(tell(withIds([user("two")], "later"))).rejects.toMatchObject({
      code: "STORAGE_FAILED",
      message: expect.stringMatching(
        /^The lossless engine did not store .* run clew lossless verify, and keep a copy of the file\.$/,
      ),
    });
    db.exec("DROP TRIGGER stop");
    db.close();
    expect(await tell(withIds([user("two")], "later"))).toBe(1);
  });
});
