// Holds bodies that go on from earlier ones against what a parser makes of them.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { outlineOf } from "./outline.ts";
import { createBodyReader } from "./read-body.ts";

const WIRE = { api: "openai-completions", list: "messages" } as const;
const bytesOf = (text: string) => new TextEncoder().encode(text);

const message = fc.record({
  role: fc.constantFrom("user", "assistant"),
  content: fc.oneof(fc.string({ unit: "grapheme" }), fc.jsonValue({ maxDepth: 2 })),
});

/** What a client does with its list before it sends it again. */
const step = fc.record({
  messages: fc.array(message, { maxLength: 4 }),
  /** Of what it has it keeps so much. */
  kept: fc.oneof(fc.constant(1), fc.double({ min: 0, max: 1, noNaN: true })),
  before: fc.constantFrom("", '"model":"ä",', '"max_tokens":9, '),
  behind: fc.constantFrom("", ',"stream":true', ' ,"messages":[{"role":"user"}]', ',"messages":7'),
  gap: fc.constantFrom("", " ", "\n  "),
  end: fc.constantFrom("]", " ]", ",]", ""),
});

function written(list: readonly object[], { before, behind, gap, end }: Omit<Step, "messages">) {
  const items = list.map((one) => gap + JSON.stringify(one)).join(`${gap},`);
  return `{${before}"messages":${gap}[${items}${end}${behind}}`;
}

type Step = Pick<
  typeof step extends fc.Arbitrary<infer T> ? T : never,
  "messages" | "before" | "behind" | "gap" | "end"
>;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

describe("a body that goes on from an earlier one", () => {
  it("is read as any other is", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const reader = createBodyReader();
        let list: object[] = [];
        for (const { messages, kept, ...more } of steps) {
          list = [...list.slice(0, Math.round(list.length * kept)), ...messages];
          const text = written(list, more);
          const read = reader.read(bytesOf(text), WIRE);
          const expected = parsed(text);
          expect(read?.body).toEqual(expected);
          if (read !== undefined)
            expect(read.outline).toEqual(outlineOf(bytesOf(text), "messages"));
        }
      }),
    );
  });

  it("has the list that counts, where a second one stands behind the first", () => {
    const reader = createBodyReader();
    reader.read(bytesOf('{"messages":[{"a":1},{"b":2}]}'), WIRE);
    const text = '{"messages":[{"a":1},{"b":2},{"c":3}],"messages":[{"role":"user"}]}';
    expect(reader.read(bytesOf(text), WIRE)!.body).toEqual(JSON.parse(text));
  });

  it("has the very messages that it had before", () => {
    const reader = createBodyReader();
    const list: object[] = Array.from({ length: 50 }, (_, index) => ({
      role: "user",
      content: `${index}`,
    }));
    const read = () =>
      reader.read(bytesOf(JSON.stringify({ messages: list })), WIRE)!.body.messages as object[];
    const before = read();
    list.push({ role: "user", content: "new" });
    const after = read();
    expect(after).toHaveLength(51);
    for (const [index, one] of before.entries()) expect(after[index]).toBe(one);
    list[40] = { role: "user", content: "otherwise" };
    const edited = read();
    expect(edited.map((one, index) => one === after[index])).toEqual(
      list.map((_, index) => index < 40),
    );
  });

  it("is not read on from what came by another wire", () => {
    const reader = createBodyReader();
    const bytes = bytesOf('{"messages":[{"role":"user"},{"role":"user"}]}');
    const read = (api: "openai-completions" | "anthropic-messages") =>
      (reader.read(bytes, { api, list: "messages" })!.body.messages as object[])[0];
    expect(read("openai-completions")).toBe(read("openai-completions"));
    expect(read("anthropic-messages")).not.toBe(read("openai-completions"));
  });

  it("is let go of when too much is kept", () => {
    const reader = createBodyReader(1_000);
    const first = (text: string) =>
      (
        reader.read(
          bytesOf(JSON.stringify({ messages: [{ text }, { text: "x".repeat(300) }] })),
          WIRE,
        )!.body.messages as object[]
      )[0];
    const a = first("a");
    expect(first("a")).toBe(a);
    for (const text of ["b", "c", "d"]) first(text);
    expect(first("a")).not.toBe(a);
  });
});
