import type { ModelError } from "@clew/plugin-sdk/host";
import { describe, expect, it } from "vitest";
import { NO_NOTES } from "../memory/journal-lines.ts";
import type { MadeView } from "../view/make-view.ts";
import { learnOverflow, learnUsage } from "./learn-size.ts";

const view = (tokens: number) => ({ plan: { tokens } }) as Pick<MadeView, "plan">;
const overflow = (told: { promptTokens?: number; windowTokens?: number } = {}): ModelError => ({
  ...{ kind: "overflow", message: "Too long." },
  ...told,
});

describe("a provider's count", () => {
  it("of a large request says what one of our tokens is, within bounds", () => {
    const notes = { ...NO_NOTES, scale: 1 };
    expect(learnUsage(notes, view(10_000), 12_000).scale).toBe(1.2);
    expect(learnUsage(notes, view(10_000), 90_000).scale).toBe(2.5);
    expect(learnUsage(notes, view(10_000), 10).scale).toBe(0.5);
  });

  it("is of what was estimated, and not of what the scale before made of that", () => {
    const notes = { ...NO_NOTES, scale: 2 };
    expect(learnUsage(notes, view(20_000), 12_000).scale).toBe(1.2);
  });

  it("of a small request, or none, says nothing", () => {
    const notes = { ...NO_NOTES, scale: 1 };
    expect(learnUsage(notes, view(1_999), 4_000)).toBe(notes);
    expect(learnUsage(notes, view(10_000), 0)).toBe(notes);
  });
});

describe("a refusal", () => {
  const notes = { ...NO_NOTES, scale: 1 };

  it("that says how much is allowed is believed, and never takes a window back that was smaller", () => {
    const error = overflow({ windowTokens: 16_000 });
    const first = learnOverflow(notes, { error, view: view(30_000), window: 32_000 });
    expect(first.window).toBe(16_000);
    const again = overflow({ windowTokens: 20_000 });
    const second = learnOverflow(first, { error: again, view: view(15_000), window: 32_000 });
    expect(second.window).toBeLessThanOrEqual(16_000);
  });

  it("that says nothing makes the next request smaller each time", () => {
    let learned = notes;
    let known = 32_000;
    for (let count = 0; count < 5; count++) {
      const refused = view(Math.floor(known * 0.9));
      learned = learnOverflow(learned, { error: overflow(), view: refused, window: 32_000 });
      expect(learned.window).toBeLessThan(known);
      known = learned.window!;
    }
  });

  it("never leaves less than a request needs to be one", () => {
    const error = overflow({ windowTokens: 10 });
    expect(learnOverflow(notes, { error, view: view(900), window: 32_000 }).window).toBe(1_024);
  });

  it("whose count alone is above the window changes the scale and not the window", () => {
    const error = overflow({ promptTokens: 40_000 });
    const learned = learnOverflow(notes, { error, view: view(30_000), window: 32_000 });
    expect(learned.window).toBeUndefined();
    expect(learned.scale).toBeCloseTo((40_000 / 30_000) * 1.02);
  });
});
