import { describe, expect, it } from "vitest";
import { asking, call, clock, result, user } from "../__fixtures__/messages.ts";
import { DISTINCT_ROUTES, nameOf } from "../__fixtures__/routes.ts";
import { sanitizeSessionHistory } from "../history.ts";
import { prepareOutboundMessages } from "../outbound.ts";

function nested(levels: number): unknown {
  let value: unknown = "end";
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

describe("tool arguments nested five thousand levels deep", () => {
  const deep = { ...call("call_1"), arguments: { deep: nested(5_000) } };
  const messages = [user("q"), asking([deep]), result("call_1"), user("n")];

  it.each(DISTINCT_ROUTES.map((route) => [nameOf(route), route] as const))(
    "end no session: %s",
    async (_name, route) => {
      const replay = await sanitizeSessionHistory({ ...route, messages, clock });
      const sent = prepareOutboundMessages({ ...route, messages: replay.messages, clock });
      expect(sent.messages.length).toBeGreaterThan(0);
      if (JSON.stringify(sent.messages).includes("toolCall"))
        expect(sent.changes.map(({ reason }) => reason).join()).toContain("200 levels");
    },
  );

  it("and an entry that is nothing at all end none either", async () => {
    const [route] = DISTINCT_ROUTES;
    const odd = [user("q"), undefined as never, user("n")];
    const replay = await sanitizeSessionHistory({ ...route!, messages: odd, clock });
    expect(
      prepareOutboundMessages({ ...route!, messages: replay.messages, clock }).messages.length,
    ).toBeGreaterThan(0);
  });
});
