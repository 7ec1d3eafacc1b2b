import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { assistant, conversation, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { estimateMessages } from "@clew/plugin-sdk/tokens";
import { pairToolCalls, textOf } from "@clew/plugin-sdk/transcript";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { storeSeen } from "../ingest/seen.ts";
import { nameOf } from "../messages/name.ts";
import { isOwn } from "../messages/own.ts";
import { temporaryStore, withIds } from "../testing/stored.ts";
import { assemblyOf, viewOf } from "./assemble.ts";

const session = { sessionId: "s", sessionKey: "agent:main:s" };
const newStore = () => temporaryStore();

async function assembleIn(
  store: ReturnType<typeof newStore>,
  messages: readonly AgentMessage[],
  tokenBudget?: number,
) {
  const view = await viewOf(store, { session, messages, tokenBudget });
  return { view, ...assemblyOf(view, { messages, tokenBudget }) };
}

const bytesOf = (messages: readonly AgentMessage[]) => messages.map((one) => JSON.stringify(one));

/** A turn of a session at work: a request, some calls with their results, an answer. */
const turn = fc
  .record({
    ask: fc.integer({ min: 5, max: 400 }),
    steps: fc.array(fc.array(fc.integer({ min: 10, max: 9_000 }), { minLength: 1, maxLength: 3 }), {
      maxLength: 5,
    }),
    answer: fc.integer({ min: 5, max: 900 }),
  })
  .map(({ ask, steps, answer }) => (number: number): AgentMessage[] => [
    user(`Please look at src/part${number}.ts. ${"word ".repeat(ask / 5)}`),
    ...steps.flatMap((sizes, step) => {
      // Ids that recur in every turn, as some models write them.
      const calls = sizes.map((_, index) =>
        toolCall("read", { path: `src/part${number}/${step}.ts` }, `read:${step}.${index}`),
      );
      return [
        assistant(calls),
        ...calls.map((call, index) =>
          toolResult(call, `line of item${number}_${step} `.repeat(sizes[index]! / 20)),
        ),
      ];
    }),
    assistant(`Done with part${number}. ${"so ".repeat(answer / 3)}`),
  ]);

/** Whoever reads anything of it fails. */
const unread = new Proxy({} as AgentMessage, {
  get(_, name) {
    throw new Error(`${String(name)} of an old message was read`);
  },
});

describe("a view", () => {
  it("from a cut on reads nothing of what its record stands for, however much that is", async () => {
    const store = newStore();
    const messages = withIds(conversation({ turns: 80, tools: 1, toolResultChars: 900 }));
    const first = await assembleIn(store, messages, 12_000);
    const hidden = first.view.hidden;
    expect(hidden).toBeGreaterThan(100);
    const begun = messages.length - first.messages.length + 1;
    const long = [...Array.from({ length: 5_000 }, () => unread), ...messages.slice(begun)];
    const next = await assembleIn(store, [...long, ...withIds([user("and on")], "n")], 12_000);
    expect(bytesOf(next.messages).slice(0, -1)).toEqual(bytesOf(first.messages));
    expect(next.view.hidden).toBe(5_000);
  });

  it("says that its record stands for all before the first message behind it", async () => {
    const messages = withIds(conversation({ turns: 80, tools: 1, toolResultChars: 900 }));
    const { messages: shown, summaries, view } = await assembleIn(newStore(), messages, 12_000);
    const [summary] = summaries!;
    expect([summary!.at, summaries!.length]).toEqual([0, 1]);
    const { until } = summary!.covers[0]!;
    const place = messages.findIndex((message) => messageId(message) === until);
    const request = view.record!.request === null ? 0 : 1;
    expect(place).toBe(view.hidden + request);
    expect(messageId(shown[1 + request]!)).toBe(until);
  });

  it("below the high mark is the history itself: the same messages, untouched", async () => {
    const store = newStore();
    const messages = withIds(conversation({ turns: 8, tools: 2 }));
    const { messages: shown, contextProjection } = await assembleIn(store, messages, 32_000);
    expect(shown.every((message, index) => message === messages[index])).toBe(true);
    expect(shown).toHaveLength(messages.length);
    expect(contextProjection?.epoch).toBe("lossless-1:whole");
  });

  it("keeps to the budget, shows calls with their results and the newest message, and says what is hidden", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(turn, { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 0, max: 40_000 }),
        async (turns, tokenBudget) => {
          const store = newStore();
          const history: AgentMessage[] = [];
          let before: readonly string[] = [];
          let epoch: string | undefined;
          for (const [number, make] of turns.entries()) {
            for (const message of make(number)) {
              history.push(...withIds([message], `m${history.length}-`));
              if (message.role === "user") continue;
              const { view, ...assembly } = await assembleIn(store, history, tokenBudget);
              const { messages, promptAuthority } = assembly;
              const isSaid = promptAuthority === undefined;
              if (isSaid) expect(estimateMessages(messages).high).toBeLessThanOrEqual(tokenBudget);
              const given = messages.filter((one) => !isOwn(one));
              expect(messages.length - given.length).toBe(view.record === null ? 0 : 1);
              const names = history.map(nameOf);
              if (given.length < history.length) expect(isOwn(messages[0]!)).toBe(true);
              const request = history.findLast(({ role }) => role === "user")!;
              expect(names.filter((name) => name === nameOf(request))).toHaveLength(1);
              expect(given.map(nameOf)).toContain(nameOf(request));
              for (const { message, why } of view.items)
                if (why === "kept") expect(history).toContain(message);
              const places = given.map((one) => names.indexOf(nameOf(one)));
              expect(places).toEqual([...new Set(places)].sort((a, b) => a - b));
              expect(places.at(-1)).toBe(history.length - 1);
              expect(pairToolCalls(messages).orphanResults).toEqual([]);
              const open = pairToolCalls(history).unanswered.length;
              expect(pairToolCalls(messages).unanswered.length).toBeLessThanOrEqual(open);
              const bytes = bytesOf(messages);
              if (assembly.contextProjection?.epoch === epoch && isSaid && view.record !== null)
                expect(bytes.slice(0, before.length)).toEqual(before);
              before = bytes;
              epoch = isSaid ? assembly.contextProjection?.epoch : undefined;
            }
          }
        },
      ),
      { numRuns: fc.readConfigureGlobal().numRuns! / 4 },
    );
  });

  it("is the same when it is asked for again, from other copies and when it is handed back", async () => {
    const store = newStore();
    const messages = withIds(conversation({ turns: 60, tools: 2, toolResultChars: 1_500 }));
    const first = await assembleIn(store, messages, 24_000);
    expect(isOwn(first.messages[0]!)).toBe(true);
    const copies = structuredClone(messages);
    expect(bytesOf((await assembleIn(store, copies, 24_000)).messages)).toEqual(
      bytesOf(first.messages),
    );
    const back = structuredClone(first.messages);
    expect(bytesOf((await assembleIn(store, back, 24_000)).messages)).toEqual(
      bytesOf(first.messages),
    );
  });

  it("keeps the record that the host hands back, however much more room the next call has", async () => {
    const turns = { turns: 80, tools: 2, toolResultChars: 1_500 };
    for (const ids of ["e", undefined])
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.integer({ min: 9_000, max: 400_000 }), { minLength: 2, maxLength: 5 }),
          async ([first, ...budgets]) => {
            const store = newStore();
            const plain = conversation(turns).map((one, at) => ({ ...one, timestamp: 1e12 + at }));
            const messages = ids === undefined ? plain : withIds(plain, ids);
            let handed = (await assembleIn(store, messages, first)).messages;
            const isCut = isOwn(handed[0]!);
            for (const budget of budgets) {
              // What a host keeps of a message beside its words is not sure.
              const back = structuredClone(handed);
              const again = await assembleIn(store, back, budget);
              handed = again.messages;
              expect(isOwn(handed[0]!)).toBe(isCut || again.view.record !== null);
              if (isCut) expect(again.contextProjection?.epoch).not.toMatch(/whole$/);
              if (isCut) expect(again.reasons?.[0]?.reason).toMatch(/^stands for \d+ earlier/);
            }
          },
        ),
        { numRuns: fc.readConfigureGlobal().numRuns! / 10 },
      );
  });

  it("keeps a record that is handed back after its cut was forgotten", async () => {
    const messages = withIds(conversation({ turns: 60, tools: 2, toolResultChars: 1_500 }));
    const first = await assembleIn(newStore(), messages, 24_000);
    const again = await assembleIn(newStore(), structuredClone(first.messages), 60_000);
    expect(bytesOf(again.messages)).toEqual(bytesOf(first.messages));
  });

  it("grows at its end only until the next cut, also when the host hands back what it was given", async () => {
    const store = newStore();
    let handed = withIds(conversation({ turns: 60, tools: 1, toolResultChars: 1_500 }));
    let epochs = 0;
    let last: string | undefined;
    for (let index = 0; index < 80; index++) {
      const { messages, contextProjection, promptAuthority } = await assembleIn(
        store,
        handed,
        24_000,
      );
      expect(promptAuthority).toBeUndefined();
      if (contextProjection?.epoch !== last) epochs++;
      last = contextProjection?.epoch;
      const call = toolCall("read", { path: `later${index}.ts` }, `later-${index}`);
      const more = [assistant([call]), toolResult(call, `text of later${index} `.repeat(60))];
      handed = [...structuredClone(messages), ...withIds(more, `later${index}-`)];
    }
    expect(epochs).toBeGreaterThan(1);
    expect(epochs).toBeLessThan(8);
    const names = JSON.stringify((await assembleIn(store, handed, 24_000)).messages);
    // Carried from record to record although the host no longer hands it over.
    expect(names).toContain("notes-60.md");
  });

  it("shows the request of the turn that runs whole, when the turn has outgrown the view", async () => {
    const store = newStore();
    const request = user(`Rename every handler, please. ${"Detail. ".repeat(60)}`);
    const steps = Array.from({ length: 60 }, (_, step) => {
      const call = toolCall("read", { path: `src/step${step}.ts` }, `c${step}`);
      return [assistant([call]), toolResult(call, `step ${step} `.repeat(300))];
    }).flat();
    const messages = withIds([...conversation({ turns: 3 }), request, ...steps]);
    const { messages: shown, view } = await assembleIn(store, messages, 24_000);
    expect(view.items.map(({ why }) => why).slice(0, 3)).toEqual(["record", "request", "kept"]);
    expect(shown[1]).toBe(messages[6]);
  });

  it("begins alike when the host makes one message of its request and the one before", async () => {
    const store = newStore();
    const [before, request] = withIds([user("One more thing."), user("Rename the handlers.")], "r");
    const steps = Array.from({ length: 60 }, (_, step) => {
      const call = toolCall("read", { path: `src/step${step}.ts` }, `c${step}`);
      return [assistant([call]), toolResult(call, `step ${step} `.repeat(300))];
    }).flat();
    const turn = withIds([...steps, assistant("Renamed.")], "s");
    const history = [...withIds(conversation({ turns: 3 })), before!, request!, ...turn];
    await storeSeen(store, { session, messages: history });
    const first = await assembleIn(store, history, 24_000);
    expect(first.messages[1]).toBe(request);
    const block = (text: string) => ({ type: "text" as const, text });
    const two = [block("One more thing."), block("Rename the handlers.")];
    const merged: AgentMessage = { ...before!, role: "user", content: two };
    const goesOn = (request: AgentMessage) =>
      assembleIn(
        store,
        [...history.slice(0, 6), request, ...turn, ...withIds([user("And on?")], "n")],
        24_000,
      );
    const next = await goesOn(merged);
    expect(bytesOf(next.messages).slice(0, -1)).toEqual(bytesOf(first.messages));
    // What the host no longer tells of is not shown.
    const without = await goesOn({ ...before!, role: "user", content: [block("One more thing.")] });
    expect(without.view.items.map(({ why }) => why)).not.toContain("request");
  });

  it("names in its record what results that are shown in part say besides", async () => {
    const store = newStore();
    const call = toolCall("bash", { command: "cat all" }, "all");
    const lines = Array.from({ length: 900 }, (_, line) => `line ${line} of many words`);
    lines[450] = "The checkpoint is read by LoadSessionState in src/store/metadata.ts.";
    const history = withIds([
      user("What does it read?"),
      assistant([call]),
      toolResult(call, lines.join("\n")),
    ]);
    const { messages, view } = await assembleIn(store, history, 4_000);
    expect(view.items.map(({ why }) => why)).toEqual(["record", "request", "kept", "shortened"]);
    expect(textOf(messages[3]!)).not.toContain("LoadSessionState");
    expect(textOf(messages[0]!)).toContain("LoadSessionState");
    expect(textOf(messages[0]!)).toContain("metadata.ts");
  });

  it("shows both ends of a request that is too long, and by which id the whole is read", async () => {
    const store = newStore();
    const request = user(`Begin with the parser. ${"Then more of it. ".repeat(3_000)} End there.`);
    const steps = Array.from({ length: 40 }, (_, step) => {
      const call = toolCall("read", { path: `src/step${step}.ts` }, `c${step}`);
      return [assistant([call]), toolResult(call, `step ${step} `.repeat(300))];
    }).flat();
    const history = withIds([request, ...steps]);
    const { messages, view, promptAuthority } = await assembleIn(store, history, 16_000);
    expect([promptAuthority, view.items[1]!.why]).toEqual([undefined, "request"]);
    expect(textOf(messages[1]!)).toMatch(
      /^Begin with the parser\..*characters cut here.*with id "e0".* End there\.$/s,
    );
    expect(bytesOf((await assembleIn(store, history, 16_000)).messages)).toEqual(bytesOf(messages));
  });

  it("of one step with more results than fit shows the request whole, a record, and both ends of each", async () => {
    const store = newStore();
    const calls = Array.from({ length: 6 }, (_, index) => toolCall("read", {}, `p${index}`));
    const results = calls.map((call, index) =>
      toolResult(
        call,
        `first line of ${index}\n${"more words of it ".repeat(2_000)}\nend of ${index}`,
      ),
    );
    const request = user("Compare the six files, please.");
    const history = withIds([...conversation({ turns: 3 }), request, assistant(calls), ...results]);
    for (const budget of [12_000, 24_000]) {
      const { messages, view, promptAuthority } = await assembleIn(store, history, budget);
      expect(promptAuthority).toBeUndefined();
      expect(estimateMessages(messages).high).toBeLessThanOrEqual(budget);
      expect(view.items.map(({ why }) => why)).toEqual([
        ...["record", "request", "kept"],
        ...results.map(() => "shortened"),
      ]);
      expect(messages[1]).toBe(history[6]);
      for (const [index, message] of messages.slice(3).entries())
        expect(textOf(message)).toMatch(
          new RegExp(`^first line of ${index}.*with id "e${8 + index}".*end of ${index}$`, "s"),
        );
      expect(bytesOf((await assembleIn(store, history, budget)).messages)).toEqual(
        bytesOf(messages),
      );
    }
  });

  it("of a turn that outgrew it goes on showing what it shortened in the same bytes", async () => {
    const store = newStore();
    const call = toolCall("read", {}, "long");
    const history = withIds([
      user("Read it."),
      assistant([call]),
      toolResult(call, "word ".repeat(9_000)),
    ]);
    const first = await assembleIn(store, history, 8_000);
    const later = [...history, ...withIds([assistant("Read."), user("And now?")], "later")];
    const next = await assembleIn(store, later, 8_000);
    expect(bytesOf(next.messages).slice(0, first.messages.length)).toEqual(bytesOf(first.messages));
  });

  it("shows a request that is a picture whenever it fits, and says so where it does not", async () => {
    for (const [budget, fits] of [
      [4_000, true],
      [16_000, true],
      [1_500, false],
    ] as const) {
      const store = newStore();
      const picture = { type: "image" as const, data: "QUJD".repeat(2_000), mimeType: "image/png" };
      const request: AgentMessage = { role: "user", content: [picture], timestamp: 1 };
      const history = withIds([...conversation({ turns: 12 }), request]);
      for (let step = 0; step < 40; step++) {
        const call = toolCall("bash", { command: `ls ${step}` }, `c${step}`);
        history.push(
          ...withIds([assistant([call]), toolResult(call, `out ${step} `.repeat(12))], `s${step}-`),
        );
        const { messages, promptAuthority } = await assembleIn(store, history, budget);
        expect(promptAuthority).toBeUndefined();
        const shown = messages.find(({ role }) => role === "user")!;
        if (fits) expect(messages).toContain(history[24]);
        else expect(textOf(shown)).toContain("picture left out");
      }
    }
  });

  it("of a small budget is forgotten when there is room again", async () => {
    const store = newStore();
    const messages = withIds(conversation({ turns: 60, tools: 1, toolResultChars: 600 }));
    expect((await assembleIn(store, messages, 3_000)).messages.length).toBeLessThan(40);
    expect((await assembleIn(store, messages, 64_000)).messages).toEqual(messages);
  });

  it("of another branch stands on that branch's own messages", async () => {
    const store = newStore();
    const messages = withIds(conversation({ turns: 60, tools: 1, toolResultChars: 1_200 }));
    await assembleIn(store, messages, 16_000);
    const other = messages.slice(0, 8);
    expect((await assembleIn(store, other, 16_000)).messages).toEqual(other);
  });

  it("answers at every odd budget, and says so when what must be shown does not fit", async () => {
    const store = newStore();
    const messages = withIds(conversation({ turns: 10, tools: 1, toolResultChars: 3_000 }));
    for (const budget of [0, -1, 0.5, Number.NaN, 40]) {
      const { messages: shown, promptAuthority } = await assembleIn(store, messages, budget);
      expect(shown.length).toBeGreaterThan(0);
      expect(promptAuthority).toBe("preassembly_may_overflow");
    }
    for (const budget of [undefined, Number.POSITIVE_INFINITY])
      expect((await assembleIn(store, messages, budget)).messages).toEqual(messages);
  });

  it("counts messages, ids and times without touching them", async () => {
    const store = newStore();
    const messages = Object.freeze(
      withIds(conversation({ turns: 40, tools: 1, toolResultChars: 1_200 })).map((message) =>
        Object.freeze(message),
      ),
    );
    const { messages: shown } = await assembleIn(store, messages, 12_000);
    const record = shown[0]!;
    expect(record.timestamp).toBeLessThanOrEqual(messages.at(-1)!.timestamp!);
    expect(messageId(record)).toBeUndefined();
  });
});
