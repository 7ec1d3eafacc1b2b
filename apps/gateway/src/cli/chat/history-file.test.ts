import { appendFile, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cleanFiles } from "../../forget/clean-files.ts";
import { temporaryHome } from "../../testing/home.ts";
import { MOST_REMEMBERED } from "./history.ts";
import { HISTORY_FILE, historyFile } from "./history-file.ts";

describe("the history of a home's chats", () => {
  it("is there for the next chat, for its person only, and of two at once", async () => {
    const home = await temporaryHome();
    const [one, other] = [historyFile(home), historyFile(home)];
    expect(await one.read()).toEqual([]);
    await Promise.all([one.add("first\nline"), other.add("漢字 🎉")]);
    await one.add("last");
    const entries = await historyFile(home).read();
    expect(entries.toSorted()).toEqual(["first\nline", "last", "漢字 🎉"].toSorted());
    expect((await stat(join(home, HISTORY_FILE))).mode & 0o777).toBe(0o600);
  });

  it("loses no line but one that was cut off", async () => {
    const home = await temporaryHome();
    await writeFile(join(home, HISTORY_FILE), '"whole"\n"cut');
    expect(await historyFile(home).read()).toEqual(["whole"]);
    await historyFile(home).add("next");
    expect(await historyFile(home).read()).toEqual(["whole", "next"]);
  });

  it("stays within its bound", async () => {
    const home = await temporaryHome();
    const file = join(home, HISTORY_FILE);
    const lines = Array.from({ length: 2 * MOST_REMEMBERED - 1 }, (_, index) => `"${index}"\n`);
    await appendFile(file, lines.join(""));
    const history = historyFile(home);
    await history.read();
    await history.add("newest");
    const kept = (await readFile(file, "utf8")).trimEnd().split("\n");
    expect(kept).toHaveLength(MOST_REMEMBERED);
    expect(kept.at(-1)).toBe('"newest"');
  });

  it("forgets what is forgotten", async () => {
    const home = await temporaryHome();
    const history = historyFile(home);
    await history.add("the secret word");
    await history.add("another");
    await cleanFiles(home, (text) => text.includes("secret"));
    expect(await history.read()).toEqual(["another"]);
  });
});
