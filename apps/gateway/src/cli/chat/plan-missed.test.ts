// What a chat shows that happened while it heard nothing.
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { expect, it } from "vitest";
import type { GatewayEvent } from "../../events/shapes.ts";
import { planMissed, withoutStored } from "./plan-missed.ts";

const entry = (id: string, role: "user" | "assistant", text: string) =>
  ({
    ...{ type: "message", id, parentId: null, timestamp: "2026-11-27T00:00:00.000Z" },
    message: { role, content: [{ type: "text", text }], timestamp: 0 },
  }) as unknown as TranscriptEntry;

const entries = [
  entry("a", "user", "one"),
  entry("b", "assistant", "heard one"),
  entry("c", "user", "two"),
  entry("d", "assistant", "heard two"),
];
const said = (seen: string | undefined) =>
  JSON.stringify(planMissed(entries, seen).pieces).match(/heard \w+|two(?=")/g);

it("what stands behind the newest shown entry is shown, once", () => {
  expect(said("b")).toEqual(["two", "heard two"]);
  const { seen } = planMissed(entries, "b");
  expect(planMissed(entries, seen).pieces).toEqual([]);
});

it("all of a session is shown in which nothing was said before", () => {
  expect(said(undefined)).toEqual(["heard one", "two", "heard two"]);
});

it("where the newest shown entry is not among those that were read, that is told", () => {
  const { pieces, seen } = planMissed(entries, "z");
  expect(pieces).toEqual([{ kind: "note", text: expect.stringContaining("Ctrl-O") }]);
  expect(seen).toBe("d");
});

it("a session that cannot be read leaves everything as it was", () => {
  expect(planMissed([], undefined)).toEqual({ pieces: [], seen: undefined });
});

it("what a running turn wrote is not shown beside the message it became meanwhile", () => {
  const running = (text: string) =>
    ({ type: "hello", running: [{ session: "s", text, tools: [] }] }) as unknown as GatewayEvent;
  const left = (text: string) => withoutStored(running(text), entries);
  expect(left("heard t")).toEqual(running(""));
  expect(left("heard two")).toEqual(running(""));
  expect(left("another reply")).toEqual(running("another reply"));
});
