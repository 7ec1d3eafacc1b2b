import type { AgentMessage } from "@clew/plugin-sdk/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deepFreeze, histories } from "./__fixtures__/histories.ts";
import { DISTINCT_ROUTES, nameOf } from "./__fixtures__/routes.ts";
import { explainInvalid } from "./explain.ts";
import { sanitizeSessionHistory } from "./history.ts";
import { prepareOutboundMessages } from "./outbound.ts";
import { asStored, blockText, roleOf, storedBlocks } from "./stored.ts";
import { TEXTS } from "./texts.ts";

const clock = { now: () => 1000 };

/** What people said, in order, without the texts and markers this package puts there. */
function saidByUsers(messages: readonly AgentMessage[]): string[] {
  const texts = asStored(messages).flatMap((message) => {
    if (roleOf(message) !== "user") return [];
    const { content } = message;
    return typeof content === "string"
      ? [content]
      : storedBlocks(message).map((block) => blockText(block) ?? "");
  });
  return texts
    .map((text) => text.replace(`\n${TEXTS.interSessionEnd}`, "").split("\n").at(-1) ?? "")
    .filter(
      (text) =>
        text.trim() !== "" &&
        !text.startsWith("[session:history]") &&
        !Object.values<string>(TEXTS).includes(text),
    );
}

describe.each(DISTINCT_ROUTES.map((route) => [nameOf(route), route] as const))(
  "any history, sent to %s",
  (_name, route) => {
    it("comes out in a form the provider accepts, and stays as it is when prepared again", async () => {
      await fc.assert(
        fc.asyncProperty(histories, async (messages) => {
          const replay = await sanitizeSessionHistory({
            ...route,
            messages: deepFreeze(messages),
            clock,
          });
          const outbound = prepareOutboundMessages({ ...route, messages: replay.messages, clock });
          expect(explainInvalid({ ...route, messages: outbound.messages })).toEqual([]);
          expect(
            prepareOutboundMessages({ ...route, messages: outbound.messages, clock }).messages,
          ).toBe(outbound.messages);
        }),
      );
    });

    it("is acceptable even when no history pass ran before", () => {
      fc.assert(
        fc.property(histories, (messages) => {
          const outbound = prepareOutboundMessages({
            ...route,
            messages: deepFreeze(messages),
            clock,
          });
          expect(explainInvalid({ ...route, messages: outbound.messages })).toEqual([]);
        }),
      );
    });

    it("changes nothing on a second run, never its input, and says what it changed", async () => {
      await fc.assert(
        fc.asyncProperty(histories, async (messages) => {
          const once = await sanitizeSessionHistory({
            ...route,
            messages: deepFreeze(messages),
            clock,
          });
          const twice = await sanitizeSessionHistory({ ...route, messages: once.messages, clock });
          expect(twice.messages).toBe(once.messages);
          expect(twice.changes).toEqual([]);
          expect(once.changes.length === 0).toBe(once.messages === messages);
        }),
      );
    });

    it("loses and invents no word of a person", async () => {
      await fc.assert(
        fc.asyncProperty(histories, async (messages) => {
          const { messages: replay } = await sanitizeSessionHistory({ ...route, messages, clock });
          expect(saidByUsers(replay)).toEqual(saidByUsers(messages));
          expect(
            saidByUsers(prepareOutboundMessages({ ...route, messages: replay, clock }).messages),
          ).toEqual(saidByUsers(messages));
        }),
      );
    });
  },
);
