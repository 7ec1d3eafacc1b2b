import { describe, expect, it } from "vitest";
import { checkEngine } from "../conformance.ts";
import { CORRECT_ENGINES } from "./engines.ts";

// They share the processor: a busy machine ends them all late.
const timeout = 600_000;

describe.concurrent.each(Object.entries(CORRECT_ENGINES))("an engine that %s", (_what, create) => {
  it("fails no case", { timeout }, async () => {
    const { results } = await checkEngine(create, { sessions: { count: 6 } });
    expect(results.filter(({ outcome }) => outcome === "failed")).toEqual([]);
  });
});
