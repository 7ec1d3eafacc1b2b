import { describe, expect, it } from "vitest";
import { exponentsOf, type Row, rowOf, verdictsOn } from "./figures.ts";
import { formatSpeed } from "./print-speed.ts";
import type { RunnerFigures } from "./race.ts";

const cost = (ms: number) => ({ wallMs: 2 * ms, cpuMs: ms });
const search = (ms: number) => ({ costs: [cost(ms)], isRight: true });

const figures = (name: string, more: Partial<RunnerFigures> = {}): RunnerFigures => ({
  ...{ name, messages: 1_000, inputBytes: 2_000_000, bytesPerMessage: 2_000 },
  ingest: cost(100),
  ...{ worstTurn: cost(3), worstStretch: cost(4), diskBytes: 3_000_000, peakBytes: 1e8 },
  asked: {
    ...{ calls: [cost(1), cost(9)], liveBytes: 0, window: [cost(2)], whole: [cost(2)] },
    searches: {
      "common word": search(1),
      "rare word": search(1),
      "rare pattern": search(1),
      "pattern without hits": search(1),
    },
    restart: [cost(5)],
  },
  ...more,
});

const row = (messages: number, measures: Record<string, number>): Row => ({
  ...{ name: "engine", messages, bytesPerMessage: 2_000, measures },
});

describe("the figures of an engine", () => {
  it("are told beside those of the floor, by processor time", () => {
    const engine = figures("engine", { ingest: cost(150), diskBytes: 4_000_000 });
    const { measures } = rowOf(engine, figures("floor"), undefined);
    expect(measures).toMatchObject({ "ingest ×": 1.5, "assemble ×": 1, "disk ×": 2 });
    expect(measures).toMatchObject({ "call ms": 5, "call worst ms": 9, "restart ms": 5 });
    expect(measures).not.toHaveProperty("compressed disk ×");
  });

  it("are judged worst first, and a wrong answer is the worst", () => {
    const verdicts = verdictsOn([
      row(1_000, { "ingest ×": 3, "call ms": 1, "common word ms": Number.NaN }),
    ]);
    expect(verdicts.map(({ measure }) => measure)).toEqual([
      "common word ms",
      "ingest ×",
      "call ms",
    ]);
  });

  it("may take more disk where messages are short", () => {
    const short = { ...row(1_000, { "disk ×": 1.8 }), bytesPerMessage: 700 };
    expect(verdictsOn([short, row(1_000, { "disk ×": 1.8 })]).map(({ atMost }) => atMost)).toEqual([
      1.7, 1.9,
    ]);
  });

  it("grow with an exponent: 1 is as much as the messages, 0 is flat", () => {
    const rows = [1_000, 10_000, 100_000].map((messages) =>
      row(messages, { "rare pattern ms": messages / 50, "assemble ms": 0.5 }),
    );
    const exponents = exponentsOf(rows);
    expect(exponents["rare pattern ms"]).toBeCloseTo(1);
    expect(exponents["assemble ms"]).toBeCloseTo(0);
    expect(exponents).not.toHaveProperty("restart ms");
  });

  it("name the worst three first and every goal that is missed", () => {
    const text = formatSpeed([row(1_000, { "ingest ×": 3, "call ms": 1, "memory ×": 1 })]);
    expect(text).toMatch(/^Worst three.*\n {2}MISSED {2}engine, ingest × at 1,000: 3\.00/);
    expect(text).toContain("2 of 3 goals are met.");
  });
});
