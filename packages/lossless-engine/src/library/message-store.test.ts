import { join } from "node:path";
import { conversation, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { withIds } from "../testing/stored.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";
import { type MessageStore, openMessageStore } from "./message-store.ts";

const fileIn = () => join(temporaryFolder(), "some", "messages.db");

/** Runs `use` on an open store, and closes it. */
async function using<Answer>(file: string, use: (store: MessageStore) => Promise<Answer>) {
  const store = openMessageStore(file);
  try {
    return await use(store);
  } finally {
    store.close();
  }
}

describe("a message store", () => {
  it("keeps what it was told when it is opened again, each message once", async () => {
    const file = fileIn();
    const messages = withIds(conversation({ turns: 3 }));
    expect(await using(file, (store) => store.ingest("s", messages))).toEqual({
      added: messages.length,
    });
    const again = await using(file, async (store) => ({
      told: await store.ingest("s", messages),
      view: await store.assemble({ session: "s", tokenBudget: 100_000 }),
      whole: await store.verify(),
    }));
    expect(again.told).toEqual({ added: 0 });
    expect(again.view.messages).toEqual(messages);
    expect(again.whole).toMatchObject({ isWhole: true, messages: messages.length });
  });

  it("shows a session without its messages what it shows with them", async () => {
    await using(fileIn(), async (store) => {
      const messages = withIds(conversation({ turns: 60, tools: 1, toolResultChars: 2_000 }));
      await store.ingest("s", messages);
      const [read, given] = [
        await store.assemble({ session: "s", tokenBudget: 16_000 }),
        await store.assemble({ session: "s", tokenBudget: 16_000, messages }),
      ];
      expect(read).toEqual(given);
      expect(read.estimatedTokens).toBeLessThanOrEqual(16_000);
    });
  });

  it("finds by words, patterns and relevance, in one session or in all, in pages", async () => {
    await using(fileIn(), async (store) => {
      for (const session of ["one", "two"])
        await store.ingest(
          session,
          withIds([1, 2, 3].map((number) => user(`order ${number} of ${session} shipped`))),
        );
      const numbers = async (query: Parameters<MessageStore["search"]>[0]) =>
        (await store.search(query)).found.map(({ excerpt }) => excerpt);
      expect(await numbers({ query: "shipping orders" })).toHaveLength(6);
      expect(await numbers({ query: "order", session: "one" })).toHaveLength(3);
      expect(await numbers({ query: "order \\d of two", by: "pattern" })).toHaveLength(3);
      expect((await numbers({ query: "order 2 two", by: "relevance" }))[0]).toBe(
        "order 2 of two shipped",
      );
      const first = await store.search({ query: "order", limit: 4 });
      expect(first).toMatchObject({ isComplete: false, olderThan: 3 });
      const rest = await store.search({ query: "order", olderThan: first.olderThan! });
      expect(rest.found.map(({ number }) => number)).toEqual([2, 1]);
      expect(rest.isComplete).toBe(true);
    });
  });

  it("reads a message whole by its number", async () => {
    await using(fileIn(), async (store) => {
      const [message] = withIds([user("x".repeat(20_000))]);
      await store.ingest("s", [message!]);
      expect(await store.describe(1)).toEqual({ number: 1, message, turn: 1, isReadable: true });
      expect(await store.describe(2)).toBeNull();
    });
  });

  it("says that it was closed, and that a file cannot be used", async () => {
    const file = fileIn();
    const store = openMessageStore(file);
    store.close();
    store.close();
    await expect(store.describe(1)).rejects.toThrow(
      `The message store ${file} was closed; open it again to use it.`,
    );
    expect(() => openMessageStore(temporaryFolder())).toThrow(/what stands there is no file/);
  });
});
