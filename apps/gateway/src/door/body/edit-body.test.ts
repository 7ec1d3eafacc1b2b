// Holds the edits of a body against what a parser makes of them.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type BodyEdits, editBody as editBytes } from "./edit-body.ts";
import { outlineOf } from "./outline.ts";

const NOTHING = { values: [], messages: new Map<number, object | null>() };

const editBody = (body: string, edits: BodyEdits): string =>
  new TextDecoder().decode(editBytes(outlineOf(new TextEncoder().encode(body), "messages"), edits));

const message = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }));
const bodies = fc.record({
  before: fc.jsonValue({ maxDepth: 2 }),
  messages: fc.array(message, { maxLength: 6 }),
  max_tokens: fc.integer(),
  thinking: fc.record({ note: fc.string(), budget_tokens: fc.integer() }),
  'a "quoted\\ name': fc.string(),
});
const indents = fc.constantFrom(undefined, 1, "\t");

describe("an edited body", () => {
  it("is the client's text when there is nothing to change", () => {
    const body = ' {"n":1.0, "messages" :[ {"a":1e2} ]}\n';
    expect(editBody(body, NOTHING)).toBe(body);
  });

  it("keeps every byte around a replaced number", () => {
    const body = '{ "a":1.50,"max_tokens" : 9 ,"messages":[{"b":12345678901234567890}]}';
    const values = [{ path: ["max_tokens"], value: 5 }];
    expect(editBody(body, { ...NOTHING, values })).toBe(
      '{ "a":1.50,"max_tokens" : 5 ,"messages":[{"b":12345678901234567890}]}',
    );
  });

  it("keeps the bytes of messages that are not replaced, and of everything behind them", () => {
    const body = '{"messages":[{"a":1.0}, {"b":"]}"},\n{"c":{"d":[1,2]}}],"z": 1.0}';
    const messages = new Map<number, object | null>([[1, { b: "" }]]);
    expect(editBody(body, { ...NOTHING, messages })).toBe(
      '{"messages":[{"a":1.0},{"b":""},{"c":{"d":[1,2]}}],"z": 1.0}',
    );
  });

  it("changes each member of a name, as servers differ in which one counts", () => {
    const edited = (body: string, path: string[]) =>
      editBody(body, { ...NOTHING, values: [{ path, value: 5 }] });
    expect(edited('{"max_tokens":1,"messages":[],"max_tokens":9}', ["max_tokens"])).toBe(
      '{"max_tokens":5,"messages":[],"max_tokens":5}',
    );
    expect(edited('{"c":{"n":1,"n":2},"c":[{"n":3}],"c":{"n":4}}', ["c", "n"])).toBe(
      '{"c":{"n":5,"n":5},"c":[{"n":3}],"c":{"n":5}}',
    );
  });

  it("adds no member that the client did not send", () => {
    const values = [{ path: ["thinking", "budget_tokens"], value: 5 }];
    const body = '{"thinking":{"type":"adaptive"},"messages":[]}';
    expect(editBody(body, { ...NOTHING, values })).toBe(body);
  });

  it("means what the same change to the parsed body means", () => {
    fc.assert(
      fc.property(
        bodies,
        indents,
        fc.array(fc.option(message), { maxLength: 6 }),
        fc.integer(),
        (given, indent, replacements, limit) => {
          const body = structuredClone(given);
          const text = JSON.stringify(body, null, indent);
          const messages = new Map<number, object | null>();
          for (const [index, replacement] of replacements.entries())
            if (index % 2 === 0) messages.set(index, replacement);
          const values = [
            { path: ["max_tokens"], value: limit },
            { path: ["thinking", "budget_tokens"], value: limit - 1 },
          ];
          const kept = body.messages.flatMap((original, index) => {
            const edit = messages.get(index);
            return edit === null ? [] : [edit ?? original];
          });
          expect(JSON.parse(editBody(text, { values, messages }))).toEqual(
            JSON.parse(
              JSON.stringify({
                ...body,
                messages: kept,
                max_tokens: limit,
                thinking: { ...body.thinking, budget_tokens: limit - 1 },
              }),
            ),
          );
        },
      ),
    );
  });
});
