import { estimateText } from "@clew/plugin-sdk/tokens";
import type { OpenRequest } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { pinnedText } from "./facts.ts";

const request = (lines: number): OpenRequest => ({
  entryId: "e7",
  message: {
    role: "user",
    content: Array.from(
      { length: lines },
      (_, n) => `${n}. Rename handle_${n}, keep its tests.`,
    ).join("\n"),
  },
});
const linesOf = (open: OpenRequest) => (open.message.content as string).split("\n");

describe("the open request in a record", () => {
  it("stands whole where it has the room", () => {
    const open = request(300);
    expect(pinnedText(open, 4000)).toBe(open.message.content);
  });

  it.each([600, 1000, 5000])(
    "of %i lines is shown by ends that fill the room, and says where the whole is",
    (lines) => {
      const open = request(lines);
      const shown = pinnedText(open, 6000);
      const { high } = estimateText(shown);
      expect(high).toBeLessThanOrEqual(6000);
      expect(high).toBeGreaterThan(4500);
      expect(shown).toContain("@e7");
      const whole = linesOf(open);
      expect(shown.startsWith(whole.slice(0, 50).join("\n"))).toBe(true);
      expect(shown.endsWith(whole.slice(-50).join("\n"))).toBe(true);
    },
  );

  it("is shown by its ends even where next to nothing may be kept", () => {
    const shown = pinnedText(request(1000), 5);
    expect(shown.length).toBeLessThan(1000);
    expect(shown).toContain("0. Rename handle_0");
  });
});
