import { describe, expect, it } from "vitest";
import {
  asking,
  assistant,
  call,
  clock,
  reasoning,
  result,
  SIGNATURE,
  summary,
  text,
  thinking,
  user,
} from "./__fixtures__/messages.ts";
import { DISTINCT_ROUTES, nameOf } from "./__fixtures__/routes.ts";
import { explainInvalid } from "./explain.ts";
import { sanitizeSessionHistory } from "./history.ts";
import { prepareOutboundMessages } from "./outbound.ts";
import type { Route } from "./route.ts";

const CLAUDE: Route = {
  provider: "anthropic",
  modelApi: "anthropic-messages",
  modelId: "claude-opus-4-6",
};
const routes = DISTINCT_ROUTES.map((route) => [nameOf(route), route] as const);

const rulesOf = (route: Route, messages: Parameters<typeof explainInvalid>[0]["messages"]) =>
  explainInvalid({ ...route, messages }).map(({ rule }) => rule);

async function send(route: Route, messages: Parameters<typeof explainInvalid>[0]["messages"]) {
  const replay = await sanitizeSessionHistory({ ...route, messages, clock });
  return prepareOutboundMessages({ ...route, messages: replay.messages, clock }).messages;
}

describe("complaint 1: a session bricked by an orphan tool result or call after compaction", () => {
  const session = [
    user("q"),
    asking([call("toolu_1"), call("toolu_2")]),
    result("toolu_1"),
    result("toolu_2"),
    assistant([text("half")]),
    user("n"),
    asking([call("toolu_3")], { stopReason: "aborted" }),
    user("go on"),
    asking([call("toolu_4")]),
    result("toolu_4"),
    assistant([text("done")]),
    user("thanks"),
  ];

  it("is what a provider rejects", () => {
    expect(rulesOf(CLAUDE, session.slice(2))).toContain("tool_result.orphan");
    expect(rulesOf(CLAUDE, session.slice(0, 3))).toContain("tool_use.unanswered");
  });

  it.each(routes)("cannot happen wherever history is cut, sent to %s", async (_name, route) => {
    for (let start = 0; start <= session.length; start++)
      for (let end = start; end <= session.length; end++)
        expect(
          rulesOf(route, await send(route, [summary(1), ...session.slice(start, end)])),
        ).toEqual([]);
  });
});

describe("complaint 2: stale thinking signatures after a compaction", () => {
  const compacted = [
    summary(100),
    user("q", { timestamp: 50 }),
    asking([thinking(SIGNATURE), call("toolu_1")], { timestamp: 60 }),
    result("toolu_1"),
    assistant([thinking(SIGNATURE), text("a")], { timestamp: 70 }),
    user("n", { timestamp: 150 }),
    assistant([thinking(SIGNATURE), text("b")], { timestamp: 160 }),
    user("m", { timestamp: 170 }),
  ];
  const signatures = (messages: readonly unknown[]) =>
    JSON.stringify(messages).split(SIGNATURE).length - 1;

  it("go, and newer ones stay", async () => {
    expect(signatures(compacted)).toBe(3);
    expect(signatures(await send(CLAUDE, compacted))).toBe(1);
  });

  it("and signatures of another provider's model never reach a model that verifies its own", async () => {
    const switched = [
      user("q"),
      asking([reasoning("rs_1"), call("call_1|fc_1")]),
      result("call_1|fc_1"),
      assistant([reasoning("rs_2"), text("a")]),
      user("n"),
    ];
    expect(rulesOf(CLAUDE, switched)).toEqual(
      expect.arrayContaining(["thinking.signature", "tool_use.id"]),
    );
    expect(rulesOf(CLAUDE, await send(CLAUDE, switched))).toEqual([]);
  });
});

describe("complaint 3: invalid tool-call ids written into the transcript", () => {
  const written = [
    "call one",
    "functions.read:0",
    "x".repeat(300),
    "उपकरण",
    "a|b",
    "call_1",
    "call_1",
  ].flatMap((id) => [asking([call(id)]), result(id)]);
  const session = [user("q"), ...written, user("n")];

  it("are what a provider rejects", () => {
    expect(rulesOf(CLAUDE, session)).toEqual(
      expect.arrayContaining(["tool_use.id", "tool_use.unique"]),
    );
  });

  it.each(routes)(
    "come out legal, unique and with their results, sent to %s",
    async (_name, route) => {
      const sent = await send(route, session);
      expect(rulesOf(route, sent)).toEqual([]);
      expect(sent.filter(({ role }) => role === "toolResult")).toHaveLength(written.length / 2);
      expect(JSON.stringify(sent)).not.toContain('isError":true');
    },
  );
});
