import type { ModelRef } from "@clew/plugin-sdk/host";
import { type NewTranscriptEntry, PRUNE_ENTRY_TYPE, placeEntry } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import type { LastRequest } from "./expand.ts";
import { countOf } from "./request-count.ts";

const model = { provider: "p", id: "m" } as ModelRef;
const usage = { input: 900, output: 40, cacheRead: 60, cacheWrite: 0, totalTokens: 1000 };
const last = (call: object, replyEntryId: string | null = "r") =>
  ({
    report: { model: { resolved: "p/m" }, replyEntryId },
    call: { usage, error: null, ...call },
    messages: [{ source: { kind: "entry", entryId: "u" } }],
  }) as unknown as LastRequest;
const place = (entry: NewTranscriptEntry, id: string) =>
  placeEntry(entry, { id, parentId: null, timestamp: "2026-01-01T00:00:00.000Z" });
const said = (id: string) =>
  place({ type: "message", message: { role: "user", content: "hi" } }, id);
const branch = [said("u"), said("r")];

describe("what was counted of the last request", () => {
  it("is its prompt and its reply, by the entries they stand in", () => {
    expect(countOf(last({}), { branch, model })).toEqual({ ids: ["u", "r"], tokens: 1000 });
  });

  it("is the prompt alone where the provider took what does not fit", () => {
    const call = { error: "too long", failure: { kind: "overflow" } };
    expect(countOf(last(call, null), { branch, model })).toEqual({ ids: ["u"], tokens: 960 });
  });

  it("is not known of other failures, of another model, and where nothing was counted", () => {
    const failed = { error: "broken", failure: { kind: "network" } };
    expect(countOf(last(failed, null), { branch, model })).toBeUndefined();
    expect(countOf(last({ usage: null }), { branch, model })).toBeUndefined();
    const other = { ...model, id: "n" };
    expect(countOf(last({}), { branch, model: other })).toBeUndefined();
  });

  it("holds until the history is made smaller, not only longer", () => {
    expect(countOf(last({}), { branch: [...branch, said("next")], model })).toBeDefined();
    const prune = { type: "custom" as const, customType: PRUNE_ENTRY_TYPE, data: {} };
    const smaller: NewTranscriptEntry[] = [prune, { type: "reset" }];
    for (const entry of smaller)
      expect(countOf(last({}), { branch: [...branch, place(entry, "c")], model })).toBeUndefined();
  });
});
