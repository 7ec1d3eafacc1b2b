import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { histories } from "./__fixtures__/histories.ts";
import { DISTINCT_ROUTES, nameOf } from "./__fixtures__/routes.ts";
import { projectForDisplay } from "./display.ts";
import { sanitizeSessionHistory } from "./history.ts";
import { prepareOutboundMessages, repairToolPairing } from "./outbound.ts";
import type { Pass, PassResult } from "./pass.ts";
import { sanitizeSessionMessagesImages } from "./passes/images.ts";
import * as exported from "./passes.ts";

const clock = { now: () => 1000 };

/** Every message with an id and, where only this test looks, the place it had. */
const identified = histories.map((messages) =>
  messages
    .filter((message) => typeof message === "object" && message !== null)
    .map((message, place): AgentMessage => {
      const __openclaw = { id: `m${place}`, runId: `r${place}`, place };
      return { ...message, __openclaw };
    }),
);

/** All that any pass of its own may ask for. */
const options = {
  ...{ clock, wire: exported.wireRules(DISTINCT_ROUTES[0]!), silentReplies: "drop" as const },
  ...{ keepLast: false, base64Only: true, includeCamelCase: true, allowedToolNames: ["read"] },
  ...{ mode: "strict" as const, modelChanged: true, failedTurns: "drop" as const },
  ...{ reader: exported.readerOf(DISTINCT_ROUTES[0]!), inOrder: true },
};
const isPass = (value: unknown): value is Pass<typeof options> =>
  typeof value === "function" && "applies" in value;
const passes = Object.entries<unknown>(exported).flatMap(([name, value]) =>
  isPass(value) ? [[name, value] as const] : [],
);

const idsOf = (messages: readonly AgentMessage[]) =>
  messages.flatMap((message) => messageId(message) ?? []);
const count = ({ changes }: PassResult, action: string) =>
  changes.filter((change) => change.action === action).length;

/**
 * What comes out has the ids that went in, each at most once; what kept its place in the order
 * kept it, and only what was inserted has no id.
 */
function expectIdsKept(before: readonly AgentMessage[], result: PassResult): void {
  const given = idsOf(before);
  const out = idsOf(result.messages);
  expect(new Set(out).size).toBe(out.length);
  for (const id of out) expect(given).toContain(id);
  if (count(result, "moved") === 0) expect(out).toEqual(given.filter((id) => out.includes(id)));
  const spoken = idsOf(result.messages.filter(({ role }) => role !== "toolResult"));
  expect(spoken).toEqual(given.filter((id) => spoken.includes(id)));
  const made = result.messages.filter((message) => messageId(message) === undefined);
  expect(made.length).toBeLessThanOrEqual(count(result, "inserted"));
  // Of merged messages the first one's id stays beside what was written on the last.
  if (count(result, "merged") === 0)
    for (const { __openclaw } of result.messages)
      if (__openclaw !== undefined) expect(__openclaw.id).toBe(`m${__openclaw.place}`);
}

describe.each(passes)("the pass %s", (_name, pass) => {
  it("keeps the id of every message it keeps, and gives none away", () => {
    fc.assert(
      fc.property(identified, (messages) => {
        expectIdsKept(messages, pass({ messages, ...options }));
      }),
    );
  });
});

it("every pass is tried", () => {
  expect(passes.length).toBeGreaterThan(20);
});

it("the pass over images keeps the id of every message it keeps", async () => {
  await fc.assert(
    fc.asyncProperty(identified, async (messages) => {
      expectIdsKept(messages, await sanitizeSessionMessagesImages({ messages }));
    }),
  );
});

describe.each(DISTINCT_ROUTES.map((route) => [nameOf(route), route] as const))(
  "a history sent to %s",
  (_name, route) => {
    it("comes out with the ids it had, in their order", async () => {
      await fc.assert(
        fc.asyncProperty(identified, async (messages) => {
          const replay = await sanitizeSessionHistory({ ...route, messages, clock });
          expectIdsKept(messages, replay);
          const outbound = prepareOutboundMessages({ ...route, messages: replay.messages, clock });
          expectIdsKept(messages, {
            messages: outbound.messages,
            changes: [...replay.changes, ...outbound.changes],
          });
          expectIdsKept(messages, repairToolPairing({ ...route, messages, clock }));
        }),
        // Three preparations each, on every route.
        { numRuns: fc.readConfigureGlobal().numRuns! / 4 },
      );
    });
  },
);

describe("messages merged into one", () => {
  const merged = (...messages: AgentMessage[]) =>
    exported.validateAnthropicTurns({ messages }).messages;
  const user = (content: string, __openclaw?: AgentMessage["__openclaw"]): AgentMessage => ({
    role: "user",
    content,
    ...(__openclaw && { __openclaw }),
  });

  it("keep the first one's id, and of a person's the rest of what was written on the last", () => {
    expect(
      merged(user("a", { id: "1", runId: "old" }), user("b", { id: "2", runId: "new" })),
    ).toMatchObject([{ __openclaw: { id: "1", runId: "new" } }]);
    const reply = (id: string): AgentMessage => ({
      role: "assistant",
      content: [{ type: "text", text: id }],
      stopReason: "stop",
      __openclaw: { id },
    });
    expect(merged(user("q"), reply("1"), reply("2"))[1]?.__openclaw?.id).toBe("1");
  });

  it("name all others that they are made of, however often they are merged", () => {
    const [once] = merged(user("a", { id: "1" }), user("b", { id: "2" }), user("c"));
    expect(once!.__openclaw).toEqual({ id: "1", merged: ["2"] });
    const [twice] = merged(once!, user("d", { id: "4" }));
    expect(twice!.__openclaw).toEqual({ id: "1", merged: ["2", "4"] });
    const [alone] = merged(user("d", { id: "4" }));
    expect(alone!.__openclaw).toEqual({ id: "4" });
  });

  it("take the first id there is, and get none when none of them has one", () => {
    expect(merged(user("a"), user("b", { id: "2" }))).toMatchObject([{ __openclaw: { id: "2" } }]);
    expect(merged(user("a"), user("b"))[0]).not.toHaveProperty("__openclaw");
  });
});

it("people are shown messages with their ids, which programs need and nobody reads", () => {
  fc.assert(
    fc.property(identified, (messages) => {
      const shown = projectForDisplay(messages);
      expect(idsOf(messages)).toEqual(expect.arrayContaining(idsOf(shown)));
      expect(idsOf(shown)).toHaveLength(shown.length);
    }),
  );
});
