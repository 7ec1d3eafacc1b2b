import { describe, expect, it } from "vitest";
import { z } from "zod";
import { passThrough } from "../__fixtures__/host.ts";
import { callCompatibly, rejectsKey } from "./compat.ts";

const params = {
  sessionId: "s",
  messages: [],
  sessionKey: "k",
  prompt: "p",
  runtimeSettings: {},
  runtimeContext: {},
  abortSignal: AbortSignal.abort(),
};

it("a declared allow-list decides what an engine is given, at once", async () => {
  const seen: string[][] = [];
  const engine = passThrough({
    assemble: (given) => {
      seen.push(Object.keys(given));
      return { messages: [], estimatedTokens: 0 };
    },
  });
  const strict = { ...engine, info: { ...engine.info, acceptedHostParams: ["prompt"] } };
  await callCompatibly(strict, "assemble", params, new Set());
  expect(seen).toEqual([["sessionId", "messages", "prompt"]]);
});

describe("an older strict engine", () => {
  it("is called again without the keys it rejects, and never given them again, in any method", async () => {
    const strict = z.strictObject({ sessionId: z.string(), messages: z.array(z.unknown()) });
    const seen: string[][] = [];
    const engine = passThrough({
      assemble: (given) => {
        seen.push(Object.keys(given));
        strict.parse(given);
        return { messages: [], estimatedTokens: 0 };
      },
      ingest: (given) => ({ ingested: seen.push(Object.keys(given)) > 0 }),
    });
    const rejected = new Set<string>();
    const { runtimeContext: _context, abortSignal: _signal, ...given } = params;
    await callCompatibly(engine, "assemble", given, rejected);
    expect([...rejected].sort()).toEqual(["prompt", "runtimeSettings", "sessionKey"]);
    await callCompatibly(
      engine,
      "ingest",
      { sessionId: "s", sessionKey: "k", message: {} },
      rejected,
    );
    expect(seen.at(-1)).toEqual(["sessionId", "message"]);
  });

  it("throws what it threw when nothing new can be left out", async () => {
    const engine = passThrough({
      assemble: () => {
        throw new Error("database is locked");
      },
    });
    await expect(callCompatibly(engine, "assemble", params, new Set())).rejects.toThrow(
      "database is locked",
    );
  });
});

describe("a rejected key is recognised", () => {
  it.each([
    [{ issues: [{ code: "unrecognized_keys", keys: ["prompt"] }] }],
    [new Error("outer", { cause: { errors: [{ code: "unrecognized_keys", keys: ["prompt"] }] } })],
    [new Error('Unrecognized key(s) in object: "sessionKey", "prompt"')],
    [new Error("must NOT have additional properties: 'prompt'")],
    [new Error("Unexpected property `prompt`")],
    [new Error('"prompt" is not allowed')],
    [new Error('[{"code":"unrecognized_keys","keys":["prompt"]}]')],
  ])("in %o", (error) => {
    expect(rejectsKey(error, "prompt")).toBe(true);
    expect(rejectsKey(error, "runtimeSettings")).toBe(false);
  });

  it("by its structured issues alone, where there are any", () => {
    const error = Object.assign(new Error('Unrecognized keys: "prompt" or the like'), {
      issues: [{ code: "unrecognized_keys", keys: ["sessionKey"] }],
    });
    expect(rejectsKey(error, "sessionKey")).toBe(true);
    expect(rejectsKey(error, "prompt")).toBe(false);
  });

  it("but not in an error that merely mentions it, or in a cyclic one", () => {
    expect(rejectsKey(new Error('the "prompt" was too long'), "prompt")).toBe(false);
    const cyclic = new Error("loop");
    cyclic.cause = cyclic;
    expect(rejectsKey(cyclic, "prompt")).toBe(false);
  });
});
