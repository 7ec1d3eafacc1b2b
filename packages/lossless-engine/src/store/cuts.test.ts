import { user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { namedWithIds, temporaryStore } from "../testing/stored.ts";
import { cutsOf, ledgerOf, type NewStoredCut, recordOf, storeCut } from "./cuts.ts";
import type { Store } from "./store.ts";

const session = { sessionId: "s", sessionKey: "agent:main:s" };
const messages = namedWithIds([user("the first words")]);

function keep(store: Store, cut: Partial<NewStoredCut>): void {
  storeCut(store, {
    ...{ session, messages },
    cut: {
      ...{ name: "cut", first: "e0", request: null, ceiling: 1_000, parts: new Map() },
      ...{ tokens: { estimate: 10, high: 12 }, time: null, covered: 1, record: "", ledger: "{}" },
      ...cut,
    },
  });
}

describe("a cut that is kept again", () => {
  it.each([
    ["longer under a larger budget", [1_000, 2_000], 2_000],
    ["as long as before under a smaller one", [2_000, 1_000], 2_000],
    ["for good when it was asked for", [1_000, Infinity], Infinity],
    ["for good once it was asked for", [Infinity, 1_000], Infinity],
  ])("holds %s", (_, ceilings, expected) => {
    const store = temporaryStore();
    for (const ceiling of ceilings) keep(store, { ceiling });
    expect(cutsOf(store, session)).toMatchObject([{ ceiling: expected }]);
  });
});

it("a cut that is asked for is the newest, and who found it before still finds its record", () => {
  const store = temporaryStore();
  for (const name of ["one", "other"]) keep(store, { name, record: `record of ${name}` });
  const before = cutsOf(store, session)[1]!;
  keep(store, { name: "one", record: "record of one", ceiling: Infinity });
  expect(cutsOf(store, session).map(({ name }) => name)).toEqual(["one", "other"]);
  expect(recordOf(store, before)).toBe("record of one");
});

it("the newest 64 cuts of a conversation are kept, and what the newest was made of", () => {
  const store = temporaryStore();
  const made = Array.from({ length: 70 }, (_, at) => `cut ${at}`);
  for (const name of made) keep(store, { name, record: `record of ${name}`, ledger: `"${name}"` });
  const cuts = cutsOf(store, session);
  expect(cuts.map(({ name }) => name)).toEqual(made.slice(-64).toReversed());
  expect(recordOf(store, cuts[63]!)).toBe("record of cut 6");
  expect(cuts.map(({ id }) => ledgerOf(store, id))).toEqual([
    '"cut 69"',
    ...Array.from({ length: 63 }, () => undefined),
  ]);
});
