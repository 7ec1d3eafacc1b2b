import type { AssistantMessage } from "@clew/plugin-sdk/core";
import { describe, expect, it } from "vitest";
import {
  everything,
  judged,
  made,
  RULE,
  reworded,
  SMALL_ROUTE,
  smallFrame,
} from "./__fixtures__/small-session.ts";
import { createJudge, type JudgedRequest } from "./judge.ts";
import type { MeasureId } from "./measures.ts";
import type { Shown } from "./shown.ts";
import { textsOf } from "./texts.ts";

/** Changes what the last call sends. */
async function withLast(change: (shown: readonly Shown[]) => readonly Shown[]) {
  const frame = await smallFrame();
  const requests = everything(frame);
  const last = requests.at(-1)!;
  const changed = [...requests.slice(0, -1), { ...last, shown: change(last.shown) }];
  return judged(frame, changed);
}

const isAbout = (text: string) => (shown: Shown) => shown.texts.some((one) => one.includes(text));

describe("sending everything", () => {
  it("keeps all there is in view, costs what it costs, and is over budget where it no longer fits", async () => {
    const frame = await smallFrame();
    const { figures, score } = await judged(frame, everything(frame));
    expect(figures).toMatchObject({
      names: 100,
      oldNames: 100,
      grounded: 100,
      groundedOne: 100,
      oldGrounded: 100,
      bytes: 100,
      constraints: 100,
      cost: 1,
      costSummaries: 1,
      costRecall: 1,
      hidden: 0,
      missing: 0,
      cutShort: 0,
      invalid: 0,
      notMade: 0,
    });
    const judgedCalls = frame.calls.filter((call) => call!.isJudged).length;
    expect(judgedCalls).toBeGreaterThan(1);
    expect(figures.over).toBe(judgedCalls);
    expect(score.largest).toBeGreaterThan(1);
  });

  it("judges what the next calls need, as far as it was said before", async () => {
    const { script, calls } = await smallFrame();
    expect(script.calls[0]!.needed).toEqual([]);
    const named = (names: readonly number[]) => names.map((name) => script.names[name]);
    expect(named(script.calls[2]!.needed)).toEqual(["src/part-1.ts", "src/part-0.ts"]);
    expect(named(script.calls[14]!.used)).toEqual(["src/part-0.ts"]);
    expect(named(calls.at(-1)!.old)).toEqual(["src/part-0.ts"]);
  });
});

describe("a planted fault", () => {
  it("moves names, bytes and the cost of recall when a message is left out", async () => {
    const { figures } = await withLast((shown) =>
      shown.filter((one) => !isAbout("part-0.ts")(one)),
    );
    expect(figures.names).toBeLessThan(100);
    expect(figures.oldNames).toBeLessThan(100);
    expect(figures.bytes).toBeLessThan(100);
    expect(figures.costRecall).toBeGreaterThan(figures.cost!);
  });

  it("moves what is grounded, and not what is named, when a message is only mentioned", async () => {
    const frame = await smallFrame();
    const note = made(frame, "Earlier: src/part-0.ts was read.");
    const requests = everything(frame).map((request): JudgedRequest => {
      const shown = request.shown.filter((one) => !isAbout("part-0.ts")(one));
      return { ...request, shown: [note, ...shown] };
    });
    const { figures } = await judged(frame, requests);
    expect(figures).toMatchObject({ names: 100, oldNames: 100, oldGrounded: 0 });
    expect(figures.grounded).toBeLessThan(100);
    expect(figures.groundedOne).toBe(figures.grounded);
  });

  it("counts a list under its folder as naming the files in it", async () => {
    const frame = await smallFrame();
    const requests = everything(frame).map((request): JudgedRequest => {
      const shown = request.shown.filter((one) => !isAbout("part-0.ts")(one));
      return { ...request, shown: [made(frame, "src/: part-0.ts part-9.ts"), ...shown] };
    });
    expect((await judged(frame, requests)).figures.names).toBe(100);
  });

  it("grounds a name by a quotation of 120 characters, and not by one of 119", async () => {
    const frame = await smallFrame();
    const { texts } = frame.script.messages.map((one) => ({ texts: textsOf(one) }))[2]!;
    const at = texts[0]!.indexOf("src/part-1.ts");
    const quoting = async (length: number) => {
      const quotation = made(frame, `> ${texts[0]!.slice(at - 50, at - 50 + length)}`);
      return frame.table.of(quotation.message, 0).grounded.map((name) => frame.script.names[name]);
    };
    expect(await quoting(120)).toEqual(["src/part-1.ts"]);
    const other = await smallFrame();
    const short = made(other, `> ${texts[0]!.slice(at - 50, at + 69)}`);
    expect(short.grounded).toEqual([]);
  });

  it("lets a tool ground what is not in view, within one call", async () => {
    const frame = await smallFrame();
    const recalled = (texts: readonly string[]) => ({ texts, answer: texts.join(" ") });
    const recall = {
      find: async () => recalled(frame.script.messages.flatMap(textsOf)),
      read: async (place: number) => recalled(textsOf(frame.script.messages[place]!)),
    };
    const requests = everything(frame).map((request) => ({
      ...request,
      recall,
      shown: request.shown.slice(-2),
    }));
    const { figures } = await judged(frame, requests);
    expect(figures.grounded).toBeLessThan(100);
    expect(figures).toMatchObject({ groundedOne: 100, bytes: 100 });
  });

  it("moves constraints when the message that holds one is gone, and not when it is quoted", async () => {
    const without = await withLast((shown) => shown.slice(1));
    expect(without.figures.constraints).toBeLessThan(100);
    const frame = await smallFrame();
    const last = everything(frame).at(-1)!;
    const quoted = [made(frame, `## Rules\n  ${RULE}`), ...last.shown.slice(1)];
    const requests = [...everything(frame).slice(0, -1), { ...last, shown: quoted }];
    expect((await judged(frame, requests)).figures.constraints).toBe(100);
  });

  it("moves cache hit and cost when the beginning of a request changes", async () => {
    const frame = await smallFrame();
    const before = (await judged(frame, everything(frame))).figures;
    const { figures } = await withLast((shown) => [
      ...shown.slice(1, 3),
      shown[0]!,
      ...shown.slice(3),
    ]);
    expect(figures.hit).toBeLessThan(before.hit!);
    expect(figures.cost).toBeGreaterThan(1);
  });

  it("counts a result that reads otherwise than before, unless that was reported", async () => {
    const frame = await smallFrame();
    const changed = (isReported: boolean) =>
      everything(frame).map((request): JudgedRequest => {
        if (request.call < 6) return request;
        const shown = request.shown.map((one, at) =>
          at === 2 ? reworded(frame, one, "[cut]") : one,
        );
        return { ...request, shown, isReported: isReported && request.call === 6 };
      });
    expect((await judged(frame, changed(false))).figures.hidden).toBe(1);
    expect((await judged(frame, changed(true))).figures.hidden).toBe(0);
  });

  it("counts a current request that is missing, and one that is not whole", async () => {
    const gone = await withLast((shown) => shown.filter((one) => !isAbout("Request 7")(one)));
    expect(gone.figures).toMatchObject({ missing: 1, cutShort: 0 });
    const frame = await smallFrame();
    const [first] = everything(frame);
    const shown = (text: string) => [{ ...first!, shown: [made(frame, text)] }];
    const [text] = textsOf(frame.script.messages[0]!);
    const ways = [text!.slice(0, 100), text!.slice(0, 150), `Before it.\n${text}\nAfter it.`];
    const scores = await Promise.all(ways.map((way) => judged(frame, shown(way))));
    expect(scores.map(({ figures: { missing, cutShort } }) => [missing, cutShort])).toEqual([
      [1, 0],
      [0, 1],
      [0, 0],
    ]);
  });

  it("counts a request over budget, one that no provider takes, and a call that was not made", async () => {
    const frame = await smallFrame(100_000);
    const requests = everything(frame);
    const huge = made(frame, "word ".repeat(120_000));
    const orphan = requests.at(-1)!.shown[2]!;
    const { figures, score } = await judged(frame, [
      { ...requests[0]!, shown: [huge] },
      { ...requests[1]!, shown: [orphan, ...requests[1]!.shown] },
      ...requests.slice(2, -1),
    ]);
    expect(figures).toMatchObject({ over: 1, invalid: 1, notMade: 1 });
    expect(score.largest).toBeGreaterThan(1);
    expect(score.fault).toMatch(/:/);
  });

  it("finds no fault in thinking that the asked model signed itself, only in another's", async () => {
    const frame = await smallFrame();
    const requests = everything(frame);
    const signedBy = (model: string): JudgedRequest[] =>
      requests.map((request) => ({
        ...request,
        shown: request.shown.map((one) =>
          one.message.role === "assistant"
            ? { ...one, message: thoughtBy(one.message, model) }
            : one,
        ),
      }));
    const own = await judged(frame, signedBy(SMALL_ROUTE.id));
    const foreign = await judged(frame, signedBy("claude-opus-4-8"));
    expect(own.figures.invalid).toBe(0);
    expect(foreign.figures.invalid).toBeGreaterThan(0);
    expect(foreign.score.fault).toMatch(/^signature.foreign/);
  });

  it("adds what summaries cost, and what engine and host took", async () => {
    const frame = await smallFrame();
    const judge = createJudge(frame, SMALL_ROUTE);
    for (const request of everything(frame)) await judge.see(request);
    const all = frame.calls.reduce((sum, one) => sum + one!.all, 0);
    const { tally } = judge.score({ summaries: all, engineMs: 15, hostMs: 30 });
    const ratio = (id: MeasureId) => tally[id].part / tally[id].whole;
    expect([ratio("cost"), ratio("costSummaries")]).toEqual([1, 2]);
    expect([ratio("engineMs"), ratio("hostMs")]).toEqual([1, 2]);
  });
});

const thoughtBy = (message: AssistantMessage, model: string): AssistantMessage => ({
  ...message,
  ...{ provider: SMALL_ROUTE.provider, model },
  content: [
    { type: "thinking", thinking: "so", thinkingSignature: "c2ln" },
    ...(typeof message.content === "string" ? [] : message.content),
  ],
});
