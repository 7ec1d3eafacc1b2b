import { describe, expect, it } from "vitest";
import { openPostgresReader } from "./reader.ts";
import { openPostgresStore } from "./store.ts";
import { holdUncommitted, runSql } from "./testing/server.ts";
import { testDatabase, UNLESS_THERE, whyNoPostgres } from "./testing/shared.ts";
import { SIMPLE_PORTS } from "./testing/simple-ports.ts";

describe.skipIf(whyNoPostgres() !== null)(`what calls cost ${UNLESS_THERE}`, () => {
  it("is kept once however often it is put, and read by all other homes in its order", async () => {
    const url = await testDatabase();
    const store = await openPostgresStore({ url, address: "http://a", ports: SIMPLE_PORTS });
    const shelf = store.costs("one");
    const long = `${"x".repeat(70_000)}\n`;
    const pieces = [...Array(80).keys()].flatMap((at) => [`short ${at}\n`, long]);
    let from = 0;
    for (const text of pieces) {
      const piece = { day: "2026-03-05", from, to: from + text.length, text };
      await shelf.put(piece);
      await shelf.put(piece);
      from += text.length;
    }
    await shelf.put({ day: "2026-03-04", from: 0, to: 4, text: "old\n" });
    await store.costs("two").put({ day: "2026-03-05", from: 0, to: 4, text: "two\n" });
    expect(await shelf.kept()).toEqual(
      new Map([
        ["2026-03-04", 4],
        ["2026-03-05", from],
      ]),
    );
    const reader = await openPostgresReader({ url, ports: SIMPLE_PORTS });
    const read = async (home: string) => {
      const days: Record<string, string> = {};
      for await (const { day, text } of reader.costsOfOthers(home))
        days[day] = (days[day] ?? "") + text;
      return days;
    };
    const one = { "2026-03-04": "old\n", "2026-03-05": pieces.join("") };
    expect(await read("two")).toEqual(one);
    expect(await read("three")).toEqual({ ...one, "2026-03-05": `${pieces.join("")}two\n` });
    await shelf.drop("2026-03-05");
    expect(await read("three")).toEqual({ "2026-03-04": "old\n", "2026-03-05": "two\n" });
    await shelf.drop(null);
    expect(await read("two")).toEqual({});
    await Promise.all([reader.close(), store.close()]);
  });

  it("is kept once where the same is put while the first is still under way", async () => {
    const url = await testDatabase();
    const store = await openPostgresStore({ url, address: "http://a", ports: SIMPLE_PORTS });
    const shelf = store.costs("one");
    const day = "2026-03-05";
    await shelf.put({ day, from: 0, to: 4, text: "old\n" });
    const held = await holdUncommitted(url, "select 1 from cost_line for update");
    const piece = { day, from: 4, to: 8, text: "new\n" };
    const puts = [shelf.put(piece), shelf.put(piece)];
    await expect.poll(held.waiting).toBe(2);
    await held.undo();
    await Promise.all(puts);
    expect(await runSql(url, "select body from cost_line")).toEqual([{ body: "old\nnew\n" }]);
    await store.close();
  });

  it("is read on by another home, each line once, and all anew where something else is there", async () => {
    const url = await testDatabase();
    const store = await openPostgresStore({ url, address: "http://a", ports: SIMPLE_PORTS });
    const [one, two] = [store.costs("one"), store.costs("two")];
    const follower = store.followCosts("me");
    const all = async () => {
      const found = [];
      for await (const { day, text } of follower.all()) found.push(`${day} ${text}`);
      return found;
    };
    const put = (shelf: typeof one, from: number, text: string, day = "2026-03-05") =>
      shelf.put({ day, from, to: from + text.length, text });
    await put(two, 0, "two😀\n");
    await put(one, 0, "one\n");
    await put(one, 0, "old\n", "2026-03-04");
    await put(store.costs("me"), 0, "mine\n");
    expect(await all()).toEqual([
      ...["2026-03-04 old\n", "2026-03-05 one\n", "2026-03-05 two😀\n"],
    ]);
    expect(await follower.more()).toEqual([]);
    await put(one, 4, "more\n");
    expect(await follower.more()).toEqual([{ day: "2026-03-05", text: "more\n" }]);
    // One that was silent for longer than is looked back.
    await runSql(url, "update cost_line set put_at = put_at - interval '1 hour'");
    await all();
    await put(one, 9, "last\n");
    expect(await follower.more()).toEqual([{ day: "2026-03-05", text: "last\n" }]);
    await put(two, 6, "again\n");
    await put(one, 0, "late\n", "2026-03-01");
    expect((await follower.more())?.map(({ text }) => text)).toEqual(["again\n", "late\n"]);
    expect(await follower.more()).toEqual([]);
    await two.drop(null);
    await put(two, 0, "x\n");
    expect(await follower.more()).toBe(null);
    expect(await all()).toContain("2026-03-05 x\n");
    await store.close();
  });
});
