import { assistant, conversation, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { estimateMessages } from "@clew/plugin-sdk/tokens";
import { describe, expect, it } from "vitest";
import { SESSION, startLife } from "../testing/life.ts";
import { withIds } from "../testing/stored.ts";

describe("compaction, without a model", () => {
  it("34. a compaction that is cancelled leaves what was there, and the next one works", async () => {
    const life = startLife();
    await life.tell(withIds(conversation({ turns: 200, tools: 1, toolResultChars: 900 })));
    const abort = new AbortController();
    const compact = (abortSignal?: AbortSignal) =>
      life.engine.compact({
        ...{ ...SESSION, tokenBudget: 16_000, force: true },
        ...(abortSignal !== undefined && { abortSignal }),
      });
    const cut = compact(abort.signal);
    abort.abort();
    await expect(cut).rejects.toThrow();
    expect(life.stored()).toHaveLength(800);
    expect(await compact()).toMatchObject({ ok: true, compacted: true });
  });

  it("35. a compaction that has nothing left to do says so every time, and changes nothing", async () => {
    const life = startLife();
    const compact = () => life.engine.compact({ ...SESSION, tokenBudget: 16_000, force: true });
    expect(await compact()).toMatchObject({ compacted: false, code: "no-conversation" });
    await life.tell(withIds([user("short")]));
    for (let time = 0; time < 3; time++)
      expect(await compact()).toMatchObject({ ok: true, compacted: false });
    await life.tell(withIds(conversation({ turns: 100, tools: 1, toolResultChars: 900 }), "more"));
    const results = [];
    for (let time = 0; time < 8; time++) results.push((await compact()).compacted);
    expect(results[0]).toBe(true);
    expect(results.slice(3).every((compacted) => !compacted)).toBe(true);
  });

  it("of a step that alone is too large for the model shows both ends of its results", async () => {
    const life = startLife();
    const calls = Array.from({ length: 4 }, (_, index) => toolCall("read", {}, `c${index}`));
    const results = calls.map((call) => toolResult(call, "a word or two ".repeat(900)));
    const messages = withIds([user("compare"), assistant(calls), ...results]);
    await life.tell(messages);
    const view = () => life.engine.assemble({ ...SESSION, messages, tokenBudget: 32_000 });
    const before = estimateMessages((await view()).messages).estimate;
    const compact = { ...SESSION, tokenBudget: 16_000, force: true };
    expect(await life.engine.compact(compact)).toMatchObject({ compacted: true });
    const { messages: shown } = await view();
    expect(estimateMessages(shown).estimate).toBeLessThan(before / 2);
    expect(shown.at(-1)).toMatchObject({ role: "toolResult", toolCallId: "c3" });
    expect(await life.engine.compact(compact)).toMatchObject({ ok: true, compacted: false });
  });
});
