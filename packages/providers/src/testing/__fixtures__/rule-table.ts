// Tests that every rule of a wire has a body that breaks it, and nothing else.
import { describe, expect, it } from "vitest";
import { checkBody } from "../server/check.ts";
import type { Accepted, Call, EmulatedWire } from "../server/wire.ts";

export interface BrokenBody extends Partial<Call> {
  body: unknown;
  /** Rules that the body cannot but break, too. */
  also?: readonly string[];
}

export interface RuleTable<View, A extends Accepted> {
  wire: EmulatedWire<View, A>;
  /** Requests without a fault. */
  good: readonly (Partial<Call> & { body: unknown })[];
  /** Per rule, bodies that break it. */
  broken: Readonly<Record<string, BrokenBody | readonly BrokenBody[]>>;
}

export function describeRules<View, A extends Accepted>(table: RuleTable<View, A>): void {
  const { wire, good, broken } = table;
  const rulesOf = ({ body, ...call }: BrokenBody) =>
    checkBody(wire, body, call).map(({ rule }) => rule);

  describe(`the rules of ${wire.api}`, () => {
    it("find nothing in good requests", () => {
      for (const { body, ...call } of good) expect(checkBody(wire, body, call)).toEqual([]);
    });

    it("refuse a body that is no object", () => {
      for (const body of [null, [], "x"]) expect(rulesOf({ body })).toEqual(["body"]);
    });

    it("are each broken by a body of this test", () => {
      expect(Object.keys(broken).sort()).toEqual(wire.rules.map(({ id }) => id).sort());
    });

    it.each(
      Object.entries(broken).flatMap(([id, bodies]) =>
        [bodies].flat().map((body) => [id, body] as const),
      ),
    )("%s is found, and nothing that is not broken", (id, { also = [], ...body }) => {
      expect(rulesOf(body).sort()).toEqual([id, ...also].sort());
    });
  });
}
