import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentMessage, UserMessage } from "../../contract/message.ts";
import { textOf } from "../../transcript/text.ts";
import { assistant, conversation, toolCall, toolResult, user } from "../messages.ts";
import { contentFault, type Strictness } from "./content.ts";
import { droppedIn, lostField } from "./fields.ts";
import { randomScript, type Weather } from "./generate.ts";
import { recordFault } from "./judge-record.ts";
import { ADDED_BY_HOST, type Occasion, viewFault } from "./judge-view.ts";
import { markOf, strangeMark } from "./marks.ts";
import { placesOf } from "./place.ts";
import { compactShapeFault, maintainShapeFault } from "./result-shape.ts";
import { inWords, isScript, ORDINARY, type Script, type Turn } from "./script.ts";
import { shrink, smallerThan } from "./shrink.ts";
import { Transcript } from "./transcript.ts";

const turn: Turn & { in: number } = {
  ...{ do: "turn", says: "plain", tools: [], answers: "plain", ends: "told", heartbeat: false },
  in: 0,
};
const withIds = (messages: AgentMessage[]): AgentMessage[] =>
  messages.map((message, at) => ({ ...message, __openclaw: { id: `e${at}` } }));

const TALK = withIds(conversation({ turns: 3, tools: 1 }));
const occasion = (changes: Partial<Occasion> = {}): Occasion => ({
  ...{ given: TALK, elsewhere: [], tokenBudget: 100_000, hasRoom: true, isAmple: true },
  ...{ ownsCompaction: true, showsAll: true },
  versionsOf: (message) => [
    TALK.find((one) => one.__openclaw!.id === message.__openclaw?.id) ?? message,
  ],
  strange: () => undefined,
  ...changes,
});
const faultOf = (messages: AgentMessage[], changes?: Partial<Occasion>) =>
  viewFault({ messages, estimatedTokens: 0 }, occasion(changes));
const without = (at: number) => TALK.toSpliced(at, 1);
const stripped = (messages: AgentMessage[]) =>
  messages.map(({ __openclaw, ...rest }) => rest as AgentMessage);

const HEADS: AgentMessage = {
  ...{ role: "compactionSummary", __openclaw: { id: "heads" } },
  summary: `${markOf("a", 1)} was asked, ${markOf("a", 2)} was answered.`,
};

describe("a view", () => {
  it("is right when it shows the newest part of the history, with or without ids, or all of it", () => {
    for (const messages of [TALK, TALK.slice(4), stripped(TALK), stripped(TALK.slice(8))])
      expect(faultOf(messages)).toBeUndefined();
    const summary: AgentMessage = { role: "compactionSummary", summary: "before" };
    expect(faultOf([summary, ...TALK.slice(4)], { isAmple: false })).toBeUndefined();
    const whole = textOf(HEADS);
    for (const words of [`${whole.split(",")[0]} (truncated)`, `Summed up before: ${whole}`]) {
      const told = { ...HEADS, summary: words } as AgentMessage;
      expect(faultOf([told, ...TALK], { given: [HEADS, ...TALK] })).toBeUndefined();
    }
  });

  it.each<[string, AgentMessage[], Partial<Occasion>, RegExp]>([
    ["nothing", [], {}, /nothing of 12 messages/],
    ["a message twice", [...TALK, TALK[11]!], {}, /twice/],
    ["another order", [TALK[11]!, ...TALK.slice(0, 11)], {}, /behind what was said after it/],
    ["a call without its result", without(2), {}, /without the result of its call/],
    ["a result without its call", without(1), {}, /without its call/],
    ["a hole", TALK.toSpliced(4, 4), {}, /^lost the person's message/],
    ["an old end", TALK.slice(0, -1), {}, /did not show .* last/],
    [
      "other words",
      TALK.with(4, { ...TALK[4]!, content: "No" } as AgentMessage),
      {},
      /otherwise: it says "No"/,
    ],
    [
      "other words for the summary of the host",
      [{ ...HEADS, summary: "They talked about several things." } as AgentMessage, ...TALK],
      { given: [HEADS, ...TALK] },
      /otherwise: it says "They talked about several things\." where/,
    ],
    ["no request", TALK.slice(9), { running: 8 }, /left out .* the request that is being answered/],
    [
      "no result",
      TALK.slice(8, 9),
      { given: TALK.slice(0, 11), running: 8, hasRoom: false },
      /left out/,
    ],
    ["too much", TALK, { tokenBudget: 50, hasRoom: false }, /for a budget of 50/],
    ["the prompt", TALK, { prompt: "Question 3" }, /asked twice/],
    [
      "what was left",
      [user("This was said and taken back."), ...TALK],
      { elsewhere: [{ message: user("This was said and taken back."), why: "was left" }] },
      /which was left/,
    ],
    ["what is no message", [...TALK, { role: "banana" } as never], {}, /is none/],
  ])("with %s is wrong", (_what, messages, changes, fault) => {
    expect(faultOf(messages, changes)).toMatch(fault);
  });

  it("has the summary of a compaction that was its host's, or says something of its own", () => {
    const summary: AgentMessage = {
      ...{ role: "compactionSummary", summary: "Item 1 weighs 1 kg." },
      __openclaw: { id: "s" },
    };
    const given = [summary, ...TALK.slice(4)];
    const of = { given, isAmple: false, ownsCompaction: false };
    expect(faultOf(TALK.slice(4), of)).toMatch(/^left out the summary of the host's compaction/);
    expect(faultOf(given, of)).toBeUndefined();
    expect(faultOf([user("Said before: item 1 is light."), ...TALK.slice(4)], of)).toBeUndefined();
    for (const other of [{ ownsCompaction: true }, { showsAll: false }])
      expect(faultOf(TALK.slice(4), { ...of, ...other })).toBeUndefined();
    const crowded = { ...of, hasRoom: false };
    expect(faultOf(TALK.slice(8), crowded)).toMatch(/^left out .* not say that there is more$/);
    const promptAuthority = "preassembly_may_overflow" as const;
    const needy = { messages: TALK.slice(8), estimatedTokens: 0, promptAuthority };
    expect(viewFault(needy, occasion(crowded))).toBeUndefined();
    // A sentence has no room beside the newest turn.
    expect(faultOf(TALK.slice(8), { ...crowded, tokenBudget: 60 })).toBeUndefined();
    const [oldest, ...rest] = TALK.slice(4);
    const told = { ...oldest!, content: `[4 earlier messages omitted] ${textOf(oldest!)}` };
    expect(faultOf([told as AgentMessage, ...rest], of)).toBeUndefined();
  });

  it("that lacks a message says so by words that are not there where it lacks nothing", () => {
    const usual = new Set(["The person likes short answers."]);
    const lossy = TALK.toSpliced(4, 4);
    const viewOf = (systemPromptAddition: string, of: Partial<Occasion> = {}) =>
      viewFault(
        { messages: lossy, estimatedTokens: 0, systemPromptAddition },
        occasion({ usual, ...of }),
      );
    expect(viewOf("The person likes short answers.")).toMatch(/^lost the person's message/);
    expect(viewOf("4 messages are not shown.")).toBeUndefined();
    const summary: AgentMessage = { role: "compactionSummary", summary: "Item 1 weighs 1 kg." };
    const of = { given: [summary, ...TALK], isAmple: false, ownsCompaction: false };
    expect(viewOf("The person likes short answers.", of)).toMatch(/^left out the summary/);
    expect(viewOf("Item 1 is light.", of)).toBeUndefined();
  });

  it("with what its host added to an earlier one is wrong", () => {
    expect(faultOf([user(ADDED_BY_HOST), ...TALK])).toMatch(/^showed what its host had added/);
  });

  it.each<[string, object, RegExp]>([
    ["at no message", { at: 12, id: "s", covers: [] }, /message 12 of 9/],
    ["at what was said", { at: 1, id: "s", covers: [] }, /which was said in the session/],
    ["of nothing", { at: 0, id: "s" }, /does not say what it covers/],
    ["of unknown messages", { at: 0, id: "s", covers: [{ until: "x" }] }, /up to "x"/],
    [
      "of a stretch that ends before it begins",
      { at: 0, id: "s", covers: [{ from: "e3", until: "e3" }] },
      /not behind it/,
    ],
  ])("that tells of a summary %s is wrong", (_what, summary, fault) => {
    const own: AgentMessage = { role: "compactionSummary", summary: "before" };
    const of = occasion({ isAmple: false });
    const messages = [own, ...TALK.slice(4)];
    const result = { messages, estimatedTokens: 0 };
    const right = { at: 0, id: "s", covers: [{ from: "e1", until: "e4" }, { until: "e2" }] };
    expect(viewFault({ ...result, summaries: [right] }, of)).toBeUndefined();
    expect(viewFault({ ...result, summaries: [right, summary as never] }, of)).toMatch(fault);
  });

  it("is taken for the newest of messages that say the same, where they have no ids", () => {
    const given = [...TALK, ...withIds(conversation({ turns: 3, tools: 1 }))].map((one, at) => ({
      ...one,
      timestamp: at,
    })) as AgentMessage[];
    expect(placesOf(stripped(given.slice(14)), stripped(given))).toEqual(
      given.slice(14).map((_, at) => at + 14),
    );
  });

  it("may be short of heartbeats, and of what only its host says", () => {
    const beat = withIds([
      user("HEARTBEAT", { __openclaw: { kind: "heartbeat" } }),
      assistant("HEARTBEAT_OK"),
    ]);
    const given = [
      ...TALK,
      ...beat.map((one, at) => ({
        ...one,
        __openclaw: {
          ...one.__openclaw,
          id: `b${at}`,
          ...(at === 0 && { kind: "heartbeat" as const }),
        },
      })),
    ];
    expect(faultOf(TALK, { given })).toBeUndefined();
  });
});

describe("what compact() answers", () => {
  it("says why it is not ok, and has a code that fits", () => {
    for (const right of [
      { ok: true, compacted: false },
      { ok: false, compacted: false, reason: "no model" },
      { ok: false, compacted: false, code: "no-gain" },
      { ok: true, compacted: true, code: "pruned-only" },
    ] as const)
      expect(compactShapeFault(right)).toBeUndefined();
    expect(compactShapeFault({ ok: false, compacted: false })).toMatch(/says why/);
    for (const [compacted, code] of [
      [true, "nothing-to-compact"],
      [false, "weaker-summary"],
    ] as const)
      expect(compactShapeFault({ ok: true, compacted, code })).toMatch(/says otherwise/);
  });
});

describe("what maintain() answers", () => {
  it("is counted, and whether anything changed", () => {
    const right = { changed: false, bytesFreed: 0, rewrittenEntries: 0 };
    expect(maintainShapeFault(right)).toBeUndefined();
    for (const wrong of [undefined, {}, { ...right, bytesFreed: -1 }, { ...right, changed: 1 }])
      expect(maintainShapeFault(wrong)).toBeDefined();
  });
});

describe("a record", () => {
  const told = {
    said: TALK,
    versionsOf: occasion().versionsOf,
    strange: () => undefined,
    isWhole: true,
    strictness: "whole" as const,
  };
  const owed = new Set(TALK.keys());
  it("holds everything once, in order, as it was said", () => {
    expect(recordFault(TALK, { ...told, owed })).toBeUndefined();
    expect(recordFault(without(3), { ...told, owed })).toMatch(/^lacks the model's message/);
    expect(recordFault([...TALK, TALK[0]!], { ...told, owed })).toMatch(/twice/);
    expect(recordFault([...TALK].reverse(), { ...told, owed })).toMatch(
      /behind what came after it/,
    );
    const cut = { ...TALK[2]!, content: [] } as unknown as AgentMessage;
    expect(recordFault(TALK.with(2, cut), { ...told, owed })).toMatch(/otherwise/);
  });
});

describe("the fields of a message", () => {
  const bare = ({ timestamp: _time, ...rest }: AgentMessage) => rest as AgentMessage;
  const places = [...TALK.keys()];

  it("may be missing where the engine always leaves them out, and nowhere else", () => {
    const drops = droppedIn(TALK.map(bare), places, TALK);
    expect(lostField(bare(TALK[0]!), [TALK[0]!], drops)).toBeUndefined();
    const keeps = droppedIn(TALK, places, TALK);
    expect(lostField(bare(TALK[0]!), [TALK[0]!], keeps)).toBe("timestamp");
    expect(faultOf(TALK.with(0, bare(TALK[0]!)), { drops: keeps })).toMatch(
      /without its timestamp/,
    );
    expect(lostField(bare(TALK[0]!), [TALK[0]!], undefined)).toBeUndefined();
  });

  it("are not asked of a message that was cut", () => {
    const keeps = droppedIn(TALK, places, TALK);
    const cut = { ...bare(TALK[0]!), content: "cut" } as AgentMessage;
    expect(lostField(cut, [TALK[0]!], keeps)).toBeUndefined();
  });
});

describe("a session's transcript", () => {
  const said = (transcript: Transcript, text: string) =>
    transcript.append({ type: "message", message: user(text) });

  it("goes back, returns to the branch that was left, and is restored to an earlier state", () => {
    const transcript = new Transcript();
    const [first, second] = [said(transcript, "one"), said(transcript, "two")];
    const ids = () => transcript.items().map(({ id }) => id);
    expect(transcript.goBack(1)).toBe(true);
    const third = said(transcript, "three");
    expect(ids()).toEqual([first, third]);
    expect(transcript.goForth()).toBe(true);
    expect(ids()).toEqual([first, second]);
    expect(transcript.goForth()).toBe(false);
    transcript.rewrite();
    expect(ids()).toEqual([first, second]);
    expect(transcript.restore(1)).toBe(true);
    expect(ids()).toEqual([first]);
    expect(said(transcript, "four")).not.toBe(second);
  });

  it("shows two messages of the person in a row as one, where its host does", () => {
    const transcript = new Transcript();
    said(transcript, "one");
    const last = said(transcript, "two");
    const merged = transcript.history({
      ids: true,
      times: true,
      merges: true,
      newest: null,
      trims: false,
    });
    expect(merged.map(textOf)).toEqual(["one\ntwo"]);
    expect(transcript.idOf(merged[0]!)).toBe(last);
  });
});

describe("what a host hands over", () => {
  const ORDINARY_HOST = { ids: true, times: true, merges: false, newest: null, trims: false };
  const thinking = assistant([
    { type: "thinking", thinking: "hm" },
    { type: "text", text: "It is." },
  ]);
  it("may come without old thinking, under the same id", () => {
    const transcript = new Transcript();
    for (const message of [user("one"), thinking, user("two"), thinking])
      transcript.append({ type: "message", message });
    const [, old, , newest] = transcript.history({ ...ORDINARY_HOST, trims: true });
    const typesOf = ({ content }: typeof thinking) => content.map(({ type }) => type);
    expect(typesOf(old as typeof thinking)).toEqual(["text"]);
    expect(typesOf(newest as typeof thinking)).toEqual(["thinking", "text"]);
    expect(transcript.versionsOf(old!)).toHaveLength(2);
  });

  it("is rewritten for an engine under its id, with all that came after it", () => {
    const transcript = new Transcript();
    for (const message of [user("one"), user("two"), user("three")])
      transcript.append({ type: "message", message });
    const before = transcript.items();
    const entryId = before[1]!.entryId;
    const replacement = { entryId, message: user("2") };
    expect(transcript.replace([replacement])).toMatchObject({ changed: true, rewrittenEntries: 1 });
    expect(transcript.items().map(({ message }) => textOf(message))).toEqual(["one", "2", "three"]);
    expect(transcript.items().map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    expect(transcript.replace([replacement])).toMatchObject({ changed: false });
  });

  it("is of a copy that knows nothing of what is said later in its original", () => {
    const transcript = new Transcript();
    const [first, later] = [transcript.next(), transcript.next()].map(({ tag, number }) =>
      markOf(tag, number),
    );
    const copied = new Transcript();
    copied.next();
    const tags = new Map([...transcript.limits(), ...new Transcript(copied).tags]);
    expect(strangeMark(`${first} ${later}`, tags)).toBeUndefined();
    expect(strangeMark(markOf(copied.tag, 0), tags)).toBeUndefined();
    expect(strangeMark(markOf(copied.tag, 1), tags)).toBe(markOf(copied.tag, 1));
  });
});

describe("what a message says", () => {
  const call = toolCall("read", { path: "a" });
  const said = assistant([
    { type: "thinking", thinking: "hm", thinkingSignature: "s" },
    { type: "text", text: "I look" },
    call,
  ]);
  it("may come without thinking, times and usage, but not changed", () => {
    const bare = assistant([{ type: "text", text: "I look" }, call], {
      timestamp: undefined as never,
    });
    expect(contentFault(bare, [said], "whole")).toBeUndefined();
    const forged = assistant([
      { type: "thinking", thinking: "hm", thinkingSignature: "t" },
      { type: "text", text: "I look" },
      call,
    ]);
    expect(contentFault(forged, [said], "whole")).toMatch(/thinking block/);
    const other = assistant([
      { type: "text", text: "I look" },
      { ...call, arguments: {} },
    ]);
    expect(contentFault(other, [said], "parts")).toMatch(/tool calls/);
    const unsigned = assistant([
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "I look" },
      call,
    ]);
    expect(contentFault(unsigned, [said], "whole")).toMatch(/thinking block/);
    const signed = assistant([{ ...call, thoughtSignature: "c2ln" }]);
    expect(contentFault(assistant([call]), [signed], "parts")).toMatch(/tool calls/);
    expect(contentFault({ ...bare, timestamp: 1 }, [said], "whole")).toMatch(/timestamp/);
  });
  it.each([
    ["Item 1.", "Item 1.\n", '"Item 1."', '"Item 1.\\n"'],
    ["a\nb", "a\r\nb", '"a\\nb"', '"a\\r\\nb"'],
    [`${"x".repeat(99)}a`, `${"x".repeat(99)}b`, `"…${"x".repeat(20)}a"`, `"…${"x".repeat(20)}b"`],
    ["one", "two", '"one"', '"two"'],
  ])("is quoted so that what differs is seen: %j", (shown, was, first, second) => {
    expect(contentFault(assistant(shown), [assistant(was)], "whole")).toBe(
      `it says ${first} where ${second} was said`,
    );
  });

  it("is not cut when nothing is missing, and half a sign counts for nothing", () => {
    const whole = toolResult(call, "short \ud83d");
    expect(contentFault(toolResult(call, "short \ufffd"), [whole], "whole")).toBeUndefined();
    expect(
      contentFault(
        toolResult(call, "short \ud83d [9 more characters not shown]"),
        [whole],
        "parts",
      ),
    ).toMatch(/though nothing is missing$/);
  });

  describe("with calls", () => {
    const text = (words: string) => ({ type: "text" as const, text: words });
    const without = (...words: string[]) =>
      assistant(words.map(text), { stopReason: "stop" as const });
    const asked = assistant([{ type: "text", text: "I look" }, call]);
    const CALLS = "its tool calls are not as they were";

    it("may be shown without them where a text in their place says so", () => {
      const shown = without("I look", "[1 tool call and its result are not shown]");
      expect(contentFault(shown, [asked], "results")).toBeUndefined();
      expect(contentFault(shown, [asked], "whole")).toBe(CALLS);
    });

    it("may not lose them in silence, nor get others for them", () => {
      expect(contentFault(without("I look"), [asked], "parts")).toBe(CALLS);
      const other = { ...call, arguments: { another: true } };
      const shown = assistant([text("I look"), text("[1 tool call not shown]"), other]);
      expect(contentFault(shown, [asked], "parts")).toBe(CALLS);
      expect(contentFault({ ...asked, stopReason: "stop" }, [asked], "parts")).toMatch(
        /^its stopReason/,
      );
    });
  });

  describe("with a picture", () => {
    const picture = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
    const text = (said: string) => ({ type: "text" as const, text: said });
    const asked = user([text("Look at this."), picture, text("And at that.")]);
    const faultOf = (content: UserMessage["content"], strictness: Strictness = "results") =>
      contentFault(user(content), [asked], strictness);
    const MISSING = "its picture is missing";

    it("may be shown without it where a text in its place says so", () => {
      const inPlace = [text("Look at this."), text("[picture left out]"), text("And at that.")];
      expect(faultOf(inPlace)).toBeUndefined();
      expect(faultOf([text(`${textOf(asked)}\n[an image was here, not shown]`)])).toBeUndefined();
      expect(faultOf(inPlace, "whole")).toBe(MISSING);
    });

    it("may not lose it in silence, nor words with it", () => {
      expect(faultOf([text("Look at this."), text("And at that.")])).toBe(MISSING);
      expect(faultOf([text("Look at this."), text("[picture left out]")])).toMatch(/^it says/);
      expect(faultOf([text("Look at this."), text("[…]"), text("And at that.")])).toBe(MISSING);
    });

    it("as a result says rightly that something is not shown", () => {
      const result = toolResult(call, [text("found it"), picture]);
      const shown = toolResult(call, [text("found it"), text("[a picture that is not shown]")]);
      expect(contentFault(shown, [result], "results")).toBeUndefined();
    });
  });

  it("may be cut where results may be", () => {
    const whole = toolResult(call, "x".repeat(2_000));
    const cut = toolResult(call, `${"x".repeat(20)} [1980 characters not shown]`);
    expect(contentFault(cut, [whole], "results")).toBeUndefined();
    const said = toolResult(call, Array.from({ length: 99 }, (_, at) => `line ${at}`).join("\n"));
    for (const text of ["line 0\nline 1\n", "line 0\nline 98", "line 97\nline 98"])
      expect(contentFault(toolResult(call, text), [said], "results")).toMatch(
        /^it is cut from 781 to \d+ characters and does not say so$/,
      );
    expect(contentFault(cut, [whole], "whole")).toMatch(/it says/);
    expect(contentFault({ ...cut, isError: true }, [whole], "results")).toMatch(/isError/);
  });
});

describe("a random session", () => {
  const weather: Weather = {
    events: [(_, number) => ({ do: "again", in: number })],
    eventful: 0.5,
    most: 9,
  };
  it("is the same whenever it is made again, and can be kept as JSON", () => {
    fc.assert(
      fc.property(fc.integer(), (number) => {
        const script = randomScript(weather, number);
        expect(randomScript(weather, number)).toEqual(script);
        expect(isScript(JSON.parse(JSON.stringify(script)))).toBe(true);
        expect(inWords(script)).toMatch(/^a turn/);
      }),
    );
  });

  it("is told by its first and last steps where it has many", () => {
    const again: Script["steps"] = Array.from({ length: 20 }, () => ({ do: "again", in: 0 }));
    const told = inWords({ host: ORDINARY, steps: [turn, ...again] }).split("; ");
    expect(told).toHaveLength(11);
    expect([told[0], told[6]]).toEqual(["a turn", "11 more steps"]);
  });

  it("is made as small as it can be and still fail", async () => {
    const script: Script = {
      host: { ...ORDINARY, remakes: true, budget: 60 },
      steps: [
        turn,
        { ...turn, says: "long" },
        { do: "again", in: 0 },
        { ...turn, tools: [["plain"], ["error"]] },
      ],
    };
    const fails = async ({ host, steps }: Script) =>
      host.remakes &&
      steps.some((step) => step.do === "turn" && step.tools.flat().includes("error"))
        ? "it"
        : undefined;
    const smallest = await shrink(script, "it", fails, () => true);
    expect(smallest.script).toEqual({
      host: { ...ORDINARY, remakes: true },
      steps: [{ ...turn, tools: [["error"]] }],
    });
    expect([...smallerThan({ host: ORDINARY, steps: [] })]).toEqual([]);
  });
});
