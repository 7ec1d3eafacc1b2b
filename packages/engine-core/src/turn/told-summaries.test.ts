import { describe, expect, it } from "vitest";
import { passThrough, testHost } from "../__fixtures__/host.ts";

const summary = { role: "user" as const, content: "All that was said before." };

describe("what an engine says of its own summaries", () => {
  it("is reported with the summary, once as long as that is sent", async () => {
    const host = testHost({
      engine: passThrough({
        info: { id: "test", name: "Test" },
        async assemble({ messages }) {
          const ids = messages.flatMap((message) => message.__openclaw?.id ?? []);
          const covers = [{ from: ids[0]!, until: ids[2]! }];
          return ids.length < 3
            ? { messages, estimatedTokens: 0 }
            : {
                messages: [summary, ...messages.slice(2)],
                estimatedTokens: 0,
                summaries: [{ at: 0, id: "S", covers }],
              };
        },
      }),
      replies: ["one", "two", "three", "four"],
    });
    for (const text of ["a", "b"]) await host.say(text);
    const { entries } = host.ports.transcript;
    const [from, until] = [entries[0]!.id, entries[2]!.id];
    const { report } = await host.say("c");
    expect(report.modelCalls[0]!.messages.items[0]).toMatchObject({
      source: { kind: "summary", summaryId: "S" },
      covers: [{ from, until }],
    });
    const next = await host.say("d");
    expect(next.report.modelCalls[0]!.messages.kept).toBeGreaterThan(0);
  });

  it("is nothing where it is said of a stored message", async () => {
    const host = testHost({
      engine: passThrough({
        info: { id: "test", name: "Test" },
        assemble: async ({ messages }) => ({
          messages,
          estimatedTokens: 0,
          summaries: [{ at: 0, id: "S", covers: [] }],
        }),
      }),
      replies: ["one", "two"],
    });
    await host.say("a");
    const { report } = await host.say("b");
    expect(report.modelCalls[0]!.messages).toMatchObject({
      kept: 1,
      items: [{ source: { kind: "entry" } }, { source: { kind: "entry" } }],
    });
  });
});

describe("what a host keeps from the model", () => {
  it("is told once, with the reason", async () => {
    const host = testHost({ replies: ["one", "two", "three", "four"] });
    const settings = { historyLimit: 1 };
    await host.say("a", { settings });
    await host.say("b", { settings });
    const third = await host.say("c", { settings });
    const { entries } = host.ports.transcript;
    const why = "older than the newest turns that the settings keep";
    expect(third.report.modelCalls[0]!.withheld).toEqual([
      { entryId: entries[0]!.id, by: "host", why },
      { entryId: entries[1]!.id, by: "host", why },
    ]);
    const fourth = await host.say("d", { settings });
    expect(fourth.report.modelCalls[0]!.withheld?.map(({ entryId }) => entryId)).toEqual([
      ...[entries[2]!.id, entries[3]!.id],
    ]);
  });
});
