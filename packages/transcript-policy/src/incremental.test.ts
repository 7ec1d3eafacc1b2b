import type { AgentMessage } from "@clew/plugin-sdk/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deepFreeze, histories } from "./__fixtures__/histories.ts";
import { asking, assistant, call, clock, result, text, user } from "./__fixtures__/messages.ts";
import { DISTINCT_ROUTES, nameOf } from "./__fixtures__/routes.ts";
import { explainInvalid } from "./explain.ts";
import { createOutbound } from "./incremental.ts";
import { prepareOutboundMessages } from "./outbound.ts";
import { createTranscriptPolicy } from "./port.ts";
import { resolveTranscriptPolicy } from "./select.ts";
import { TEXTS } from "./texts.ts";

const routes = DISTINCT_ROUTES.map((route) => [nameOf(route), route] as const);
const turn = (at: number): AgentMessage[] => [
  user(`question ${at}`),
  asking([call(`toolu_${at}`)]),
  result(`toolu_${at}`),
  assistant([text(`answer ${at}`)]),
];

describe.each(routes)("calls of a growing history, sent to %s", (_name, route) => {
  it("are what one look at the whole list would give, however it grows", () => {
    fc.assert(
      fc.property(histories, fc.array(fc.nat(3), { maxLength: 12 }), (messages, steps) => {
        const prepare = createOutbound();
        deepFreeze(messages);
        let end = 0;
        for (const more of [...steps, messages.length]) {
          end = Math.min(messages.length, end + more + 1);
          const request = { ...route, messages: messages.slice(0, end), clock };
          const sent = prepare(request).messages;
          expect(sent).toEqual(prepareOutboundMessages({ ...request, appendOnly: true }).messages);
          expect(explainInvalid({ ...route, messages: sent })).toEqual([]);
        }
      }),
    );
  });

  it("are so behind results inside user messages and summaries of a later time", () => {
    const at = (timestamp: number, message: AgentMessage) => ({ ...message, timestamp });
    const inside = (toolUseId: string | undefined) =>
      user([{ type: "toolResult", toolUseId, content: [text("inside")] }, text("more")] as never);
    const summary = { role: "compactionSummary", summary: "Before.", tokensBefore: 9 } as never;
    const thinks = assistant([
      { type: "thinking", thinking: "t", thinkingSignature: "c2ln" },
      text("thought"),
    ]);
    const odd: fc.Arbitrary<readonly AgentMessage[]> = fc.oneof(
      fc.nat(3).map((id) => [inside(`toolu_${id}`)]),
      fc.constant([inside(undefined)]),
      fc.nat(9).map((time) => [at(time, summary)]),
      fc.nat(9).map((time) => [user("q"), at(time, thinks)]),
      fc.nat(3).map((id) => [asking([call(`toolu_${id}`)]), inside(`toolu_${id}`)]),
      fc.nat(9).map((id) => turn(id)),
    );
    fc.assert(
      fc.property(fc.array(odd, { minLength: 1, maxLength: 6 }), (parts) => {
        const prepare = createOutbound();
        const messages = deepFreeze(parts.flat());
        for (let end = 1; end <= messages.length; end++) {
          const request = { ...route, messages: messages.slice(0, end), clock };
          const sent = prepare(request).messages;
          expect(sent).toEqual(prepareOutboundMessages({ ...request, appendOnly: true }).messages);
        }
      }),
    );
  });

  it("are so where the calls of every turn have the same ids, as some servers give them", () => {
    const ids = [
      ...["call_1", "functions.read:0", "a1b2c3d4e", "toolu_1", "call_1 ", "call1", "call12"],
      ...["call_1|fc_1", "call_1|fc_2", "call_2|fc_1"],
    ];
    const thinking = { type: "thinking", thinking: "t", thinkingSignature: "c2ln" };
    const one = fc.record({
      id: fc.constantFrom(...ids),
      other: fc.constantFrom(...ids),
      kind: fc.constantFrom(
        ...["answered", "two", "loop", "steered", "late", "lost", "stray", "thought", "mulled"],
        ...["broken", "failed", "aborted"],
      ),
    });
    const partsOf = ({ id, other, kind }: { id: string; other: string; kind: string }) => {
      const asked = [user("q"), asking([call(id)])];
      const answer = assistant([text("fine")]);
      switch (kind) {
        case "two":
          return [
            ...[user("q"), asking([call(id), call(other)]), result(id), result(other), answer],
          ];
        case "loop":
          return [...asked, result(id), asking([call(other)]), result(other), answer];
        case "steered":
          return [...asked, user("wait"), result(id), asking([call(id)]), result(id), user("so?")];
        case "stray":
          return [...asked, result(id), answer, user("more"), result(other), result(id), answer];
        case "mulled":
          return [...asked, result(id), asking([thinking, call(other)] as never), result(other)];
        case "aborted":
          return [
            user("q"),
            asking([call(id)], { stopReason: "aborted" }),
            result(id),
            user("so?"),
          ];
        case "late":
          return [...asked, user("and?"), answer, result(other), user("more"), answer];
        case "lost":
          return [...asked, answer];
        case "thought":
          return [user("q"), asking([thinking, call(id)] as never), result(id), answer];
        case "broken":
          return [user("q"), asking([{ ...call(id), name: " " }]), result(id), answer];
        case "failed":
          return [user("q"), asking([call(id)], { stopReason: "error" }), user("again"), answer];
        default:
          return [...asked, result(id), answer];
      }
    };
    fc.assert(
      fc.property(fc.array(one, { minLength: 2, maxLength: 7 }), (turns) => {
        const prepare = createOutbound();
        const messages = deepFreeze(turns.flatMap(partsOf));
        for (let end = 1; end <= messages.length; end++) {
          const request = { ...route, messages: messages.slice(0, end), clock };
          const sent = prepare(request).messages;
          expect(sent).toEqual(prepareOutboundMessages({ ...request, appendOnly: true }).messages);
        }
      }),
    );
  });

  it("are so where a call is left out whose id is, without its signs, that of one that waits", () => {
    const [asked, answer] = [user("q"), assistant([text("fine")])];
    const messages = deepFreeze([
      ...[asked, asking([call("call_1")]), result("call_1"), answer],
      ...[asked, asking([call("call1")]), answer],
      ...[asked, asking([{ ...call("call_1"), name: " " }]), result("call_1"), answer],
      ...[asked, asking([call("call_1")]), result("call_1"), answer],
    ]);
    const prepare = createOutbound();
    for (let end = 1; end <= messages.length; end++) {
      const request = { ...route, messages: messages.slice(0, end), clock };
      const whole = prepareOutboundMessages({ ...request, appendOnly: true }).messages;
      expect(prepare(request).messages).toEqual(whole);
    }
  });

  it("keep a turn that failed before it said anything, before the next prompt and ever after", async () => {
    const policy = createTranscriptPolicy({ clock });
    const { provider, modelApi: api, modelId: id, model: traits } = route;
    const model = { ...traits, provider, api, id, contextWindow: 200_000, maxOutputTokens: 8192 };
    const sent = async (stored: AgentMessage[], prompt: AgentMessage) => {
      const history = await policy.sanitizeHistory({ messages: stored, model, branch: [] });
      return policy.prepareOutbound({ messages: [...history.messages, prompt], model }).messages;
    };
    const failed: AgentMessage[] = [
      user("one"),
      assistant([text("fine")]),
      user("two"),
      assistant([], { stopReason: "error" }),
    ];
    const before = await sent(failed, user("three"));
    const after = await sent([...failed, user("three"), assistant([text("ok")])], user("four"));
    expect(after.slice(0, before.length)).toEqual(before);
    expect(JSON.stringify(before)).toContain(TEXTS.streamErrorFallback);
  });

  it("announce a late result in the midst of a turn as they will when it is history", async () => {
    const policy = createTranscriptPolicy({ clock });
    const { provider, modelApi: api, modelId: id, model: traits } = route;
    const model = { ...traits, provider, api, id, contextWindow: 200_000, maxOutputTokens: 8192 };
    const sent = async (stored: AgentMessage[], turn: AgentMessage[]) => {
      const history = await policy.sanitizeHistory({ messages: stored, model, branch: [] });
      return policy.prepareOutbound({ messages: [...history.messages, ...turn], model }).messages;
    };
    const asked = [user("one"), asking([call("call_both1|fc_one"), call("call_both2|fc_two")])];
    const running = [
      user("two"),
      asking([call("toolu_two")]),
      result("call_both2|fc_two", { content: [text("late")] }),
      result("toolu_two"),
    ];
    const before = await sent(asked, running);
    const after = await sent([...asked, ...running, assistant([text("done")])], [user("three")]);
    expect(after.slice(0, before.length)).toEqual(before);
    expect(JSON.stringify(before)).toContain("late");
  });

  it("say again what was said before, object for object", () => {
    const prepare = createOutbound();
    const history = Array.from({ length: 20 }, (_, at) => turn(at)).flat();
    let before: readonly AgentMessage[] = [];
    for (let end = 1; end <= history.length; end += 2) {
      const sent = prepare({ ...route, messages: history.slice(0, end), clock }).messages;
      const last = before.length - 1;
      expect(sent.slice(0, last).every((message, at) => message === before[at])).toBe(true);
      before = sent;
    }
  });
});

describe("a result that comes after its absence was answered", () => {
  const route = {
    provider: "anthropic",
    modelApi: "anthropic-messages",
    modelId: "claude-opus-5-5",
  };
  const asked = [user("q"), asking([call("toolu_1")]), user("and?"), assistant([text("no news")])];
  const late = result("toolu_1", { content: [text("here it is")] });

  it("comes as news at its place, and what was sent stays", () => {
    const request = { ...route, clock, appendOnly: true };
    const before = prepareOutboundMessages({ ...request, messages: asked.slice(0, 3) }).messages;
    const after = prepareOutboundMessages({ ...request, messages: [...asked, late] });
    expect(JSON.stringify(before)).toContain(TEXTS.missingToolResult);
    expect(after.messages.slice(0, before.length)).toEqual(before);
    expect(after.messages.at(-1)).toMatchObject({
      role: "custom",
      customType: "late-tool-result",
      content: [text("[Late result of tool call toolu_1 (read)]"), text("here it is")],
    });
    expect(after.changes.map(({ rule }) => rule)).toContain("late-results");
  });

  it("comes as news also where the reply to the made-up one is left out of later requests", async () => {
    const policy = createTranscriptPolicy({ clock });
    const { provider, modelApi: api, modelId: id } = route;
    const model = { provider, api, id, contextWindow: 200_000, maxOutputTokens: 8192 };
    const sent = async (stored: AgentMessage[], prompt: AgentMessage) => {
      const history = await policy.sanitizeHistory({ messages: stored, model, branch: [] });
      return policy.prepareOutbound({ messages: [...history.messages, prompt], model }).messages;
    };
    const start = [user("q"), asking([call("toolu_1")])];
    const before = await sent(start, user("and?"));
    const replies = [
      [assistant([text("NO_REPLY")])],
      [assistant([{ type: "thinking", thinking: "hm" }], { stopReason: "length" })],
      [asking([{ ...call("toolu_2"), name: "re ad!" }])],
      [asking([call(" ")]), result(" ", { content: [text("of another call")] })],
    ];
    for (const reply of replies) {
      const after = await sent([...start, user("and?"), ...reply, late], user("more"));
      expect(after.slice(0, 3)).toEqual(before.slice(0, 3));
      expect(JSON.stringify(after)).toContain("[Late result of tool call toolu_1");
    }
  });

  it("without an id never stands for a made-up one that was sent: it may be of another call", () => {
    const prepare = createOutbound();
    const sent = (messages: AgentMessage[]) => prepare({ ...route, messages, clock }).messages;
    const next = [...asked, user("next")];
    const before = sent(next);
    const dropped = [
      asking([call(" ")]),
      result(" ", { content: [text("of another call")] }),
      user("so?"),
    ];
    const after = sent([...next, ...dropped]);
    expect(after.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
    expect(after.filter(({ role }) => role === "toolResult")).toHaveLength(1);
    expect(JSON.stringify(after)).toContain("[Late result of a tool call (read)]");
    // Nor where that call is the only sign that the made-up one was sent.
    const first = sent([user("q"), asking([call("toolu_1")]), user("and?")]);
    const then = sent([user("q"), asking([call("toolu_1")]), user("and?"), ...dropped, late]);
    expect(then.slice(0, 3)).toEqual(first.slice(0, 3));
    const announced = sent([...asked, late, ...dropped]);
    expect(announced.filter(({ role }) => role === "toolResult")).toEqual(
      before.filter(({ role }) => role === "toolResult"),
    );
  });

  it("still takes its place where nobody had spoken since, or nothing was sent", () => {
    const messages = [...asked.slice(0, 3), late];
    for (const appendOnly of [true, false])
      expect(
        prepareOutboundMessages({ ...route, clock, appendOnly, messages }).messages[2],
      ).toMatchObject({ role: "toolResult", isError: false });
    expect(
      prepareOutboundMessages({ ...route, clock, messages: [...asked, late] }).messages[2],
    ).toMatchObject({ role: "toolResult", isError: false });
  });
});

describe("an id that was sent", () => {
  it("is not renamed by a later call that claims its form", () => {
    const route = {
      provider: "anthropic",
      modelApi: "anthropic-messages",
      modelId: "claude-opus-5-5",
    };
    const asksFor = (id: string) => [asking([call(id)]), result(id)];
    const first = [user("q"), ...asksFor("functions.read!0")];
    const request = { ...route, clock, appendOnly: true };
    const before = prepareOutboundMessages({ ...request, messages: first }).messages;
    const claim = (before[2] as { toolCallId: string }).toolCallId;
    const after = prepareOutboundMessages({ ...request, messages: [...first, ...asksFor(claim)] });
    expect(after.messages.slice(0, 3)).toEqual(before);
    expect(explainInvalid({ ...route, messages: after.messages })).toEqual([]);
  });
});

describe("a reply that held nothing", () => {
  const route = {
    provider: "anthropic",
    modelApi: "anthropic-messages",
    modelId: "claude-opus-5-5",
  };
  const messages = [user("one"), assistant([]), user("two")];

  it("stays as a text that says so, so that what was sent before it stays as it was", () => {
    const request = { ...route, clock, appendOnly: true };
    const before = prepareOutboundMessages({ ...request, messages: messages.slice(0, 1) }).messages;
    const after = prepareOutboundMessages({ ...request, messages });
    expect(after.messages.slice(0, 1)).toEqual(before);
    expect(after.messages[1]).toMatchObject({
      role: "assistant",
      content: [text(TEXTS.emptyContent)],
    });
    expect(after.messages).toHaveLength(3);
    expect(explainInvalid({ ...route, messages: after.messages })).toEqual([]);
    expect(createOutbound()({ ...route, clock, messages }).messages).toEqual(after.messages);
  });

  it("goes where nothing was sent before it", () => {
    expect(prepareOutboundMessages({ ...route, clock, messages }).messages).toHaveLength(1);
  });
});

describe("a long session", () => {
  const embedded = user([
    { type: "toolResult", toolUseId: "toolu_old", content: [text("old")] },
    text("more"),
  ] as never);
  const summary = { role: "compactionSummary", summary: "Before.", tokensBefore: 9 };
  const late = [{ ...summary, timestamp: 4e12 } as never, user("go on")];
  const thought = { type: "thinking", thinking: "t", thinkingSignature: "c2ln" };
  const turnOf = (id: string, ...before: object[]) => [
    user("question"),
    asking([...before, call(id)] as never),
    result(id),
    assistant([text("answer")]),
  ];
  const everywhere = routes.map(([, route]) => route);
  const starts: [string, AgentMessage[], typeof turn, typeof everywhere][] = [
    ["with nothing odd", [], turn, everywhere],
    ["that begins with a result inside a user message", [embedded], turn, everywhere],
    ["whose summary is stamped later", late, turn, everywhere],
    ["whose calls have the same ids in every turn", [], () => turn(1), everywhere],
    ["whose calls are counted from one in every turn", [], () => turnOf("call_1"), everywhere],
    ["whose calls are named by their tool", [], () => turnOf("functions.read:0"), everywhere],
    ["whose calls name their item, too", [], () => turnOf("call_1|fc_1"), everywhere],
    [
      "whose calls have the same ids behind other thoughts",
      [],
      () => turnOf("call_1", thought),
      // There thinking goes, but for that of the last reply, whichever it is.
      everywhere.filter((route) => !resolveTranscriptPolicy(route).dropThinkingBlocks),
    ],
  ];

  it.each(starts)(
    "%s is read no further back than a short one, sent to any route",
    (_name, start, turnAt, among) => {
      for (const route of among) {
        let reads = 0;
        const counted = (message: AgentMessage): AgentMessage => {
          const { content, ...rest } = message as { content: unknown } & AgentMessage;
          return Object.defineProperty({ ...rest, timestamp: 1e12 }, "content", {
            enumerable: true,
            get: () => {
              reads += 1;
              return content;
            },
          }) as AgentMessage;
        };
        const prepare = createOutbound();
        const messages = [...start];
        const readsAt = (end: number): number => {
          while (messages.length < end) messages.push(...turnAt(messages.length).map(counted));
          prepare({ ...route, messages: messages.slice(), clock });
          messages.push(...turnAt(messages.length).map(counted));
          reads = 0;
          prepare({ ...route, messages: messages.slice(), clock });
          return reads;
        };
        expect(readsAt(40)).toBe(readsAt(400));
      }
    },
  );
});
