import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { saidBy } from "../sessions/mark-other-session.ts";
import { tooManyUnasked } from "./unasked.ts";

const entry = (isPerson: boolean, n: number): TranscriptEntry => ({
  ...{ type: "message", id: `e${n}`, parentId: n === 0 ? null : `e${n - 1}` },
  timestamp: new Date(n).toISOString(),
  message: {
    role: "user",
    content: `${n}`,
    ...(!isPerson && { provenance: saidBy("agent:main:x", "x") }),
  },
});
const others = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => entry(false, from + n));

describe("sessions that talk to each other", () => {
  it("are stopped after fifty messages that no person asked for", () => {
    expect(tooManyUnasked(others(49))).toBe(false);
    expect(tooManyUnasked(others(50))).toBe(true);
  });

  it("may go on as long again when a person has spoken", () => {
    expect(tooManyUnasked([...others(60), entry(true, 60)])).toBe(false);
    expect(tooManyUnasked([...others(60), entry(true, 60), ...others(49, 61)])).toBe(false);
    expect(tooManyUnasked([...others(60), entry(true, 60), ...others(50, 61)])).toBe(true);
  });
});
