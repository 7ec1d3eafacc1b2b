import { existsSync } from "node:fs";
import { readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { createSessionState } from "@clew/engine-core";
import { describe, expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { createConversations } from "./conversations.ts";
import { ENTRY_BYTES } from "./entry-bytes.ts";
import { createSessionStore } from "./store.ts";

async function conversations(
  options: {
    maxOpen?: number;
    maxOpenBytes?: number;
    maxSpareBytes?: number;
    idleMs?: number;
  } = {},
) {
  const store = createSessionStore({ home: await temporaryHome(), checkpointFrom: 0 });
  const opened: string[] = [];
  const closed: string[] = [];
  const notes: string[] = [];
  const all = createConversations({
    store,
    canonical: (key) => `agent:main:${key}`,
    cwd: () => "/somewhere",
    createState: createSessionState,
    onOpened: ({ session }, told) => {
      opened.push(session.session.sessionKey);
      for (const note of told) if (note.kind === "read-again") notes.push(note.how);
    },
    onClosing: async ({ session }) => void closed.push(session.session.sessionKey),
    ...options,
  });
  const lockOf = (key: string) =>
    all.run(key, async ({ session }) => `${session.session.sessionFile}.lock`);
  return { all, opened, closed, notes, lockOf };
}

const until = async (condition: () => boolean) => {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
};

describe("conversations", () => {
  it("do one thing at a time per session, in order, and stay open in between", async () => {
    const { all, opened } = await conversations();
    const order: number[] = [];
    await Promise.all(
      [1, 2, 3].map((number) =>
        all.run("a", async () => {
          order.push(number);
          await new Promise(setImmediate);
          order.push(-number);
        }),
      ),
    );
    expect(order).toEqual([1, -1, 2, -2, 3, -3]);
    expect(opened).toEqual(["agent:main:a"]);
    await all.close();
  });

  it("read their file again before the next work where another program wrote or removed it", async () => {
    const { all, notes } = await conversations();
    const say = (text: string) =>
      all.run("a", async ({ session }) => {
        const message = { role: "user" as const, content: text, timestamp: 0 };
        await session.append([{ type: "message", message }]);
        return session.session.sessionFile;
      });
    const said = () =>
      all.run("a", async ({ session }) =>
        session
          .branch()
          .map(
            (entry) =>
              entry.type === "message" && "content" in entry.message && entry.message.content,
          ),
      );
    const file = await say("first");
    const replace = async (text: string) => {
      await writeFile(`${file}.new`, text);
      await rename(`${file}.new`, file);
    };
    await replace((await readFile(file, "utf8")).replace('"first"', '"FIRST"'));
    expect(await said()).toEqual(["FIRST"]);
    await say("second");
    expect(await readFile(file, "utf8")).toContain('"second"');
    await truncate(file, (await readFile(file, "utf8")).trimEnd().lastIndexOf("\n") + 1);
    expect(await said()).toEqual(["FIRST"]);
    await rm(file);
    await say("third");
    expect(await said()).toEqual(["third"]);
    expect(notes).toEqual(["replaced", "changed", "removed"]);
    await all.close();
    const kept = await readFile(file, "utf8");
    expect(kept.match(/"content":"\w+"/g)).toEqual(['"content":"third"']);
  });

  it("are closed to be replaced, after the work before and before the work after", async () => {
    const { all, opened, closed } = await conversations();
    const order: string[] = [];
    const first = all.run("a", async () => void order.push("before"));
    const replaced = all.replace("a", async () => {
      order.push(`replaced, ${closed.length} closed`);
      return 7;
    });
    const last = all.run("a", async () => void order.push("after"));
    expect(await replaced).toBe(7);
    await Promise.all([first, last]);
    expect(order).toEqual(["before", "replaced, 1 closed", "after"]);
    expect(opened).toHaveLength(2);
    await all.close();
    await expect(all.replace("a", async () => 1)).rejects.toThrow("stopping");
  });

  it("are closed when together they hold too much, those used longest ago first", async () => {
    const { all, closed } = await conversations({ maxOpenBytes: 12_000 + 4 * ENTRY_BYTES });
    const say = (key: string, chars: number) =>
      all.run(key, ({ session }) =>
        session.append([
          { type: "message", message: { role: "user", content: "a".repeat(chars) } },
        ]),
      );
    for (const key of ["a", "b", "c"]) await say(key, 2000);
    expect(closed).toEqual([]);
    await say("a", 6000);
    await until(() => closed.length > 0);
    expect(closed).toEqual(["agent:main:b"]);
    // What holds too much alone stays open while it is used.
    await say("c", 20_000);
    await until(() => closed.length > 1);
    expect(closed).toEqual(["agent:main:b", "agent:main:a"]);
    await all.close();
  });

  it("count what short messages take, which is more than what they say", async () => {
    const { all, closed } = await conversations({ maxOpenBytes: 200_000 });
    const say = (key: string, times: number) =>
      all.run(key, ({ session }) =>
        session.append(
          Array.from({ length: times }, () => ({
            type: "message" as const,
            message: { role: "user" as const, content: "yes" },
          })),
        ),
      );
    await say("a", 50);
    await say("b", 50);
    await until(() => closed.length > 0);
    expect(closed).toEqual(["agent:main:a"]);
    // What was closed is read again, and takes as much.
    await say("a", 1);
    await until(() => closed.length > 1);
    expect(closed).toEqual(["agent:main:a", "agent:main:b"]);
    const branch = await all.run("a", async ({ session }) => session.branch());
    expect(branch).toHaveLength(51);
    await all.close();
  });

  it("are closed when a compaction left much behind, and hold what it kept when opened again", async () => {
    const { all, closed } = await conversations({ maxSpareBytes: 10_000 });
    const said = (chars: number) => ({
      type: "message" as const,
      message: { role: "user" as const, content: "a".repeat(chars) },
    });
    await all.run("a", ({ session }) => session.append([said(20_000), said(300)]));
    await all.run("a", async ({ session }) => {
      const compaction = {
        ...{ type: "compaction" as const, summary: "All a.", tokensBefore: 5000 },
        firstKeptEntryId: session.branch()[1]!.id,
      };
      expect(session.spareBytes()).toBe(0);
      await session.append([compaction]);
      expect(session.spareBytes()).toBeGreaterThan(20_000);
    });
    await until(() => closed.length > 0);
    await all.run("a", async ({ session }) => {
      expect(session.branch()).toHaveLength(3);
      expect(session.heldBytes()).toBeLessThan(3000 + 2 * ENTRY_BYTES);
      expect(session.spareBytes()).toBe(0);
    });
    expect(closed).toHaveLength(1);
    await all.close();
  });

  it("go on after a piece of work that failed", async () => {
    const { all } = await conversations();
    await expect(all.run("a", () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
    expect(await all.run("a", async () => "fine")).toBe("fine");
    expect(all.busy().size).toBe(0);
    await all.close();
  });

  it("give up their place when they are cancelled while waiting", async () => {
    const { all } = await conversations();
    const { promise: work, resolve: finish } = Promise.withResolvers<void>();
    const first = all.run("a", () => work);
    const waiting = new AbortController();
    let ran = false;
    const second = all.run(
      "a",
      async () => {
        ran = true;
      },
      waiting.signal,
    );
    waiting.abort();
    finish();
    await expect(second).rejects.toMatchObject({ name: "AbortError" });
    await first;
    expect(ran).toBe(false);
    await all.close();
  });

  it("close the one that was idle longest when too many are open", async () => {
    const { all, opened, closed } = await conversations({ maxOpen: 2 });
    for (const key of ["a", "b", "a", "c"]) await all.run(key, async () => undefined);
    await until(() => closed.length > 0);
    expect(closed).toEqual(["agent:main:b"]);
    await all.run("b", async () => undefined);
    expect(opened.filter((key) => key === "agent:main:b")).toHaveLength(2);
    await all.close();
  });

  it("that were only visited are closed again, unless they were open or somebody waits", async () => {
    const { all, opened, closed } = await conversations();
    await all.visit("a", async () => {});
    expect([opened, closed]).toEqual([["agent:main:a"], ["agent:main:a"]]);
    await expect(all.visit("a", () => Promise.reject(new Error("refused")))).rejects.toThrow();
    expect(closed).toHaveLength(2);

    await Promise.all([all.visit("b", async () => {}), all.run("b", async () => {})]);
    await all.visit("b", async () => {});
    expect([opened.length, closed.length]).toEqual([3, 2]);

    let end = () => {};
    await all.visit("c", async ({ state }) => {
      state.maintenance.active = new Promise((resolve) => {
        end = resolve;
      });
    });
    expect(closed).toHaveLength(2);
    end();
    await all.close();
    expect(closed).toHaveLength(4);
  });

  it("give their lock back when idle for long enough, and when all are closed", async () => {
    const { all, closed, lockOf } = await conversations({ idleMs: 20 });
    const lock = await lockOf("a");
    await until(() => closed.length === 1 && !existsSync(lock));
    const again = await lockOf("a");
    await all.close();
    expect(existsSync(again)).toBe(false);
    await expect(all.run("a", async () => undefined)).rejects.toMatchObject({
      code: "GATEWAY_STOPPING",
    });
  });
});
