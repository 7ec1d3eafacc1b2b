import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GRAPH_SIZES, type GraphSizes, planCondensation, planLeaf, type Waiting } from "./plan.ts";

interface Node {
  depth: number;
  /** Messages from here to there, both included. */
  first: number;
  last: number;
  tokens: number;
}

/** What becomes of messages that come one by one, however often somebody looks after them. */
function frontierOf(messages: readonly Waiting[], sizes: GraphSizes): Node[] {
  const frontier: Node[] = [];
  for (let first = 0; ; ) {
    const size = planLeaf(messages.slice(first), sizes);
    if (size === 0) return frontier;
    const tokens = messages.slice(first, first + size).reduce((sum, next) => sum + next.tokens, 0);
    frontier.push({ depth: 0, first, last: first + size - 1, tokens });
    first += size;
    for (
      let due = planCondensation(frontier, sizes);
      due;
      due = planCondensation(frontier, sizes)
    ) {
      const parts = frontier.slice(due.from, due.to);
      frontier.splice(due.from, parts.length, {
        depth: parts[0]!.depth + 1,
        first: parts[0]!.first,
        last: parts.at(-1)!.last,
        tokens: parts.reduce((sum, part) => sum + part.tokens, 0),
      });
    }
  }
}

const sizes = fc.record({
  leafTokens: fc.integer({ min: 1, max: 2_000 }),
  fanIn: fc.integer({ min: 2, max: 6 }),
  kept: fc.integer({ min: 0, max: 6 }),
});
const messages = fc.array(
  fc.record({ tokens: fc.integer({ min: 0, max: 900 }), isRequest: fc.boolean() }),
  { maxLength: 400 },
);

describe("the plan of summaries", () => {
  it("names each message once, in order, but for those too few for a leaf", () => {
    fc.assert(
      fc.property(messages, sizes, (told, of) => {
        const frontier = frontierOf(told, of);
        let next = 0;
        for (const { first, last } of frontier) {
          expect(first).toBe(next);
          expect(last).toBeGreaterThanOrEqual(first);
          next = last + 1;
        }
        const rest = told.slice(next).reduce((sum, { tokens }) => sum + tokens, 0);
        expect(rest).toBeLessThan(of.leafTokens);
      }),
    );
  });

  it("keeps what is old coarser than what is new, and few of each depth", () => {
    fc.assert(
      fc.property(messages, sizes, (told, of) => {
        const depths = frontierOf(told, of).map(({ depth }) => depth);
        expect(depths).toEqual([...depths].sort((a, b) => b - a));
        for (const depth of new Set(depths))
          expect(depths.filter((one) => one === depth).length).toBeLessThan(of.kept + of.fanIn);
      }),
    );
  });

  it("ends a leaf before a request once it is half full, and never above its size by two", () => {
    fc.assert(
      fc.property(messages, sizes, (told, of) => {
        const size = planLeaf(told, of);
        if (size === 0) return;
        const tokens = told.slice(0, size).map((next) => next.tokens);
        const before = tokens.slice(0, -1).reduce((sum, one) => sum + one, 0);
        expect(before).toBeLessThan(of.leafTokens);
        const isEarly = before + tokens.at(-1)! < of.leafTokens;
        if (isEarly) expect(told[size]!.isRequest).toBe(true);
      }),
    );
  });

  it("names a million tokens by some two dozen summaries, of depth 3 and less", () => {
    fc.assert(
      fc.property(fc.integer({ min: 60, max: 1_900 }), (tokens) => {
        const told = Array.from({ length: Math.ceil(1_000_000 / tokens) }, (_, at) => ({
          ...{ tokens, isRequest: at % 12 === 0 },
        }));
        const frontier = frontierOf(told, GRAPH_SIZES);
        expect(frontier[0]!.depth).toBe(3);
        expect(frontier.length).toBeLessThanOrEqual(4 * (GRAPH_SIZES.kept + GRAPH_SIZES.fanIn - 1));
      }),
      { numRuns: fc.readConfigureGlobal().numRuns! / 4 },
    );
  });
});
