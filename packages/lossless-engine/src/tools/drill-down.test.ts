import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Store } from "../store/store.ts";
import { coverageOf, partsOfSummary } from "../store/summaries.ts";
import type { StoredSummary } from "../store/summary-rows.ts";
import { growGraph } from "../summaries/grow.ts";
import { GRAPH_SIZES, type GraphSizes } from "../summaries/plan.ts";
import { session, setUpRecall } from "../testing/recall.ts";

const START = Date.UTC(2026, 0, 1, 9);
const HOUR = 3_600_000;

/** A turn: how long after the one before, how much is asked and answered, and by which calls. */
interface Turn {
  readonly hours: number;
  readonly chars: number;
  readonly answerChars: number;
  readonly files: number;
}

const turn: fc.Arbitrary<Turn> = fc.record({
  hours: fc.constantFrom(0, 1, 5, 26, 400),
  chars: fc.constantFrom(4, 90, 700, 3_000),
  answerChars: fc.constantFrom(3, 80, 900),
  files: fc.integer({ min: 0, max: 3 }),
});

/** Words that differ from turn to turn, some of them long. */
const words = (of: number, chars: number) =>
  Array.from({ length: Math.ceil(chars / 9) }, (_, at) => `w${of}x${at}`.padEnd(8, "é"))
    .join(" ")
    .slice(0, chars);

function told(turns: readonly Turn[]): AgentMessage[] {
  let timestamp = START;
  return turns.flatMap(({ hours, chars, answerChars, files }, at) => {
    timestamp += hours * HOUR;
    const calls = Array.from({ length: files }, (_, file) =>
      toolCall(
        "edit",
        { path: `src/${"deep/".repeat(12)}t${at}/file${file}.ts` },
        `c${at}-${file}`,
      ),
    );
    return [
      user(`${words(at, chars)} asked`, { timestamp }),
      ...calls.flatMap((call) => [
        { ...assistant([call]), timestamp },
        { ...toolResult(call, words(at, chars)), timestamp },
      ]),
      { ...assistant(words(at, answerChars)), timestamp },
    ] as AgentMessage[];
  });
}

/** Every summary that the frontier stands on, as the store has it. */
const allOf = (store: Store, frontier: readonly StoredSummary[]): StoredSummary[] =>
  frontier.flatMap((summary) => [summary, ...allOf(store, partsOfSummary(store, summary.id))]);

/** A page's summaries, and the messages that it shows: the numbers of their labels. */
const partsIn = (page: string) => [...page.matchAll(/^- (sum_\d+) #/gm)].map(([, id]) => id!);
const messagesIn = (page: string) =>
  [...page.matchAll(/^#(\d+) /gm)].map(([, number]) => Number(number));

/** What is shown from a summary on, by which call; each page is asked for once. */
function drilling(call: (id: string) => Promise<string>) {
  const shown = new Map<string, Promise<Map<number, number>>>();
  const look = async (id: string): Promise<Map<number, number>> => {
    const page = await call(id);
    const found = new Map(messagesIn(page).map((number) => [number, 1]));
    for (const part of partsIn(page))
      for (const [number, calls] of await from(part)) found.set(number, calls + 1);
    return found;
  };
  const from = (id: string) => {
    const known = shown.get(id) ?? look(id);
    shown.set(id, known);
    return known;
  };
  return from;
}

/** Each message of each summary, by so many calls as the summary is deep, and one. */
async function expectAllReached(
  { call, stores }: ReturnType<typeof setUpRecall>,
  sizes: GraphSizes,
): Promise<number> {
  const store = stores.ofAgent();
  const of = { ...session, owner: stores.owner };
  await growGraph(store, coverageOf(store, of)!.conversation, { sizes });
  const { frontier } = coverageOf(store, of)!;
  const from = drilling((id) => call("lcm_describe", { id }));
  for (const { id, depth, first, last } of allOf(store, frontier)) {
    const shown = await from(`sum_${id}`);
    expect([...shown.keys()].sort((one, other) => one - other)).toEqual(
      Array.from({ length: last - first + 1 }, (_, at) => first + at),
    );
    expect(Math.max(...shown.values())).toBeLessThanOrEqual(depth + 1);
  }
  return Math.max(...frontier.map(({ depth }) => depth));
}

describe("from a summary to its messages", () => {
  it("leads one call more than the summary is deep, at most, in whatever graph", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(turn, { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 60, max: 1_500 }),
        fc.integer({ min: 2, max: 4 }),
        fc.integer({ min: 0, max: 2 }),
        async (turns, leafTokens, fanIn, kept) => {
          const set = setUpRecall();
          await set.tell(told(turns));
          await expectAllReached(set, { leafTokens, fanIn, kept });
        },
      ),
      { numRuns: fc.readConfigureGlobal().numRuns! / 4 },
    );
  });

  it("leads there also where each part has more to tell than a page holds", async () => {
    const set = setUpRecall();
    const day = (at: number): Turn[] =>
      Array.from({ length: 5 }, (_, step) => ({
        ...{ hours: step === 0 && at > 0 ? 24 : 0, chars: 160, answerChars: 120, files: 2 },
      }));
    await set.tell(told(Array.from({ length: 40 }, (_, at) => day(at)).flat()));
    const depth = await expectAllReached(set, { leafTokens: 900, fanIn: 4, kept: 0 });
    expect(depth).toBeGreaterThanOrEqual(2);
  });

  it.each([
    ["short", 2_000, 2],
    ["long", 20, 20_000],
  ])("leads to messages that are %s, in leaves as they are made", async (_, count, chars) => {
    const set = setUpRecall();
    const messages = Array.from({ length: count }, (__, at) =>
      at % 2 === 0 ? user(words(at, chars)) : assistant(words(at, chars)),
    );
    await set.tell(messages);
    expect(await expectAllReached(set, GRAPH_SIZES)).toBeGreaterThanOrEqual(0);
  });
});
