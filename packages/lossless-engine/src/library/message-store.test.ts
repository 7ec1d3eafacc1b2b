import { join } from "node:path";
import type { AgentMessage } from "@clew/plugin-sdk/core";
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

  it.each(["id", "messageId"])(
    "knows messages by an %s of their own, told again, changed or alike",
    async (key) => {
      await using(fileIn(), async (store) => {
        const own = (message: object, id: unknown) =>
          ({ ...message, [key]: id }) as unknown as AgentMessage;
        const now = { timestamp: 5 };
        const told = [
          own({ ...user("yes"), ...now }, "m1"),
          own({ ...user("yes"), ...now }, "m2"),
          own(user("yes"), 3),
          own(user("yes"), 4),
          // No id: as it was.
          own({ ...user("yes"), timestamp: 6 }, ""),
        ];
        expect(await store.ingest("s", told)).toEqual({ added: 5 });
        const again = [...told, own({ ...user("yes, yes"), ...now }, "m1"), own(user("no"), "m5")];
        expect(await store.ingest("s", again)).toEqual({ added: 1 });
        expect(await store.ingest("other", told)).toEqual({ added: 5 });
        const given = [...told, own(user("no"), "m5")];
        const view = await store.assemble({
          ...{ session: "s", messages: given, tokenBudget: 9_000 },
        });
        expect(view.messages).toEqual(given);
        for (const [at, message] of view.messages.entries()) expect(message).toBe(given[at]);
        const read = await store.assemble({ session: "s", tokenBudget: 9_000 });
        expect(read.messages.map((message) => (message as never)[key])).toEqual([
          ...["m1", "m2", 3, 4, "", "m5"],
        ]);
      });
    },
  );

  it("names no tool in a view, as there is none, whether it is handed back or not", async () => {
    await using(fileIn(), async (store) => {
      const messages = withIds(conversation({ turns: 60, tools: 2, toolResultChars: 9_000 }));
      await store.ingest("s", messages);
      for (const tokenBudget of [4_000, 8_000, 16_000, 32_000])
        for (const given of [undefined, messages]) {
          const request = { session: "s", tokenBudget, messages: given };
          const view = await store.assemble(request);
          expect(JSON.stringify(view)).not.toMatch(/lcm_|tool search/);
          expect(JSON.stringify(view.messages[0])).toContain("show any of them whole");
          const back = await store.assemble({ ...request, messages: [...view.messages] });
          expect(JSON.stringify(back)).not.toContain("lcm_");
          expect(back.messages).toEqual(view.messages);
        }
      const whole = user("x [9 characters cut here to make room; lcm_grep finds the rest]\n");
      await store.ingest("t", [whole]);
      const { messages: shown } = await store.assemble({ session: "t", tokenBudget: 4_000 });
      expect(shown.map(({ role, ...each }) => "content" in each && each.content)).toEqual([
        ...[(whole as { content: unknown }).content],
      ]);
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

  it("says in a sentence what is wrong with what it was asked", async () => {
    for (const file of [undefined, "", 5])
      expect(() => openMessageStore(file as never)).toThrow(/^The message store was given no file/);
    await using(":memory:", async (store) => {
      const asked: readonly (readonly [() => Promise<unknown>, RegExp])[] = [
        [() => store.ingest(undefined as never, []), /ingest: it was given no session/],
        [() => store.ingest("", []), /ingest: it was given no session/],
        [() => store.ingest("s", user("one") as never), /ingest: it was given no list of messages/],
        [() => store.ingest("s", [null] as never), /1 of what it was told are no messages/],
        [() => store.assemble(undefined as never), /assemble: it was given no session/],
        [() => store.assemble({ session: "s" } as never), /tokenBudget is no number above 0/],
        [() => store.assemble({ session: "s", tokenBudget: Number.NaN }), /tokenBudget is no/],
        [() => store.search(undefined as never), /query is no text/],
        [() => store.search("word" as never), /query is no text/],
        [() => store.search({ query: "x", by: "magic" as never }), /cannot search by "magic"/],
        [() => store.planForget({} as never), /takes one of number, id, text, session/],
        [() => store.planForget({ numbers: [7] } as never), /takes one of number, id/],
        [() => store.forget({} as never), /it was given no plan/],
        [() => store.search({ query: "x", limit: 0 }), /limit is no whole number above 0/],
        [
          () => store.search({ query: "(", by: "pattern" }),
          /cannot be searched for: a \( is not closed\.$/,
        ],
      ];
      for (const [ask, said] of asked) {
        const error = await ask().catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({
          code: "REQUEST_INVALID",
          message: expect.stringMatching(said),
        });
      }
    });
  });

  it("forgets what a plan of its own names", async () => {
    await using(":memory:", async (store) => {
      await store.ingest("s", [user("The code is 4711."), user("Thank you.")]);
      const plan = await store.planForget({ text: "4711" });
      expect(await store.forget(plan)).toEqual({ forgotten: 1 });
      expect((await store.search({ query: "code" })).found).toEqual([]);
      const refused = { ...plan, refused: ["Message 1 cannot be forgotten."] };
      await expect(store.forget(refused)).rejects.toThrow(/Message 1 cannot be forgotten/);
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
