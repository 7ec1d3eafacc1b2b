import type { AgentMessage } from "@clew/plugin-sdk/core";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PAYLOAD_CHARS, packMessage, unpackMessage } from "./body.ts";

const long = "x".repeat(PAYLOAD_CHARS);
const asMessage = (value: unknown) => value as AgentMessage;

/** Texts of all kinds, some of them as long as a payload. */
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }).map((some) => some + long),
  fc.constantFrom("\ud800", `\udc00${long}`, `\0${long}`, "__proto__", "toJSON"),
);
const { value: anything } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.constantFrom(null, true, 0, -1.5, 1e300),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.oneof(text, fc.constantFrom("1", "0", "content")), tie("value"), {
      maxKeys: 4,
    }),
  ),
}));

describe("a stored message", () => {
  it("comes back with every field and in the order of its keys, whatever it holds", () => {
    fc.assert(
      fc.property(fc.dictionary(text, anything), (fields) => {
        const json = JSON.stringify(fields);
        const packed = packMessage(asMessage(fields));
        expect(JSON.stringify(unpackMessage(packed))).toBe(json);
        expect(JSON.stringify(fields)).toBe(json);
      }),
    );
  });

  it("holds its long texts apart, and short ones in its JSON", () => {
    const message = asMessage({
      role: "toolResult",
      content: [
        { type: "text", text: long },
        { type: "text", text: "short" },
      ],
      details: { stdout: `${long}!` },
    });
    const { body, payloads } = packMessage(message);
    expect(payloads).toEqual([
      { place: ["content", 0, "text"], text: long },
      { place: ["details", "stdout"], text: `${long}!` },
    ]);
    expect(body.length).toBeLessThan(200);
    expect(body).toContain("short");
  });

  it("keeps a long text under a key that objects treat as their own", () => {
    const json = `{"role":"user","content":[],"__proto__":"${long}","more":{"__proto__":"${long}"}}`;
    const packed = packMessage(JSON.parse(json));
    expect(JSON.stringify(unpackMessage(packed))).toBe(json);
  });

  it("is read only: a frozen one is stored like any other", () => {
    const message = asMessage(
      Object.freeze({ role: "user", content: Object.freeze([Object.freeze({ text: long })]) }),
    );
    expect(unpackMessage(packMessage(message))).toEqual(message);
  });
});
