import { assistant, user } from "@clew/plugin-sdk/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keyOf, planMerge } from "./plan-merge.ts";

const word = fc.constantFrom("ok", "go on", "yes", "what is next", "stop");
const listOf = (words: readonly string[], prefix: string) =>
  words.map((text, at) => {
    const message = at % 2 === 0 ? user(text) : assistant(text);
    return { name: `${prefix}${at}`, message, entryId: null, key: keyOf(message) };
  });
type Told = ReturnType<typeof listOf>[number];
const merged = (foreign: readonly Told[], told: readonly Told[]) => {
  const { items, shared } = planMerge(foreign, told);
  return { shared, messages: items.map((each) => each.told ?? each.foreign) };
};
const textsOf = (names: readonly { message: unknown }[]) =>
  names.map(({ message }) => JSON.stringify(message));

describe("what a database and a transcript tell", () => {
  it("is each there once where the transcript is an end, a beginning or a middle", () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 60 }), fc.nat(), fc.nat(), (words, one, other) => {
        const [from, to] = [one % (words.length + 1), other % (words.length + 1)].sort(
          (a, b) => a - b,
        );
        const all = listOf(words, "d");
        const told = all.slice(from, to).map((each, at) => ({ ...each, name: `t${at}` }));
        const { messages, shared } = merged(all, told);
        expect(shared).toBe(told.length);
        expect(textsOf(messages)).toEqual(textsOf(all));
        expect(messages.filter(({ name }) => name.startsWith("t"))).toEqual(told);
      }),
    );
  });

  it("loses nothing of either, and keeps the order of both", () => {
    fc.assert(
      fc.property(fc.array(word), fc.array(word), (words, other) => {
        const [foreign, told] = [listOf(words, "d"), listOf(other, "t")];
        const { messages, shared } = merged(foreign, told);
        expect(messages).toHaveLength(foreign.length + told.length - shared);
        expect(messages.filter(({ name }) => name.startsWith("t"))).toEqual(told);
        const left = messages.filter(({ name }) => name.startsWith("d"));
        expect(foreign.filter((each) => left.includes(each))).toEqual(left);
      }),
    );
  });
});
