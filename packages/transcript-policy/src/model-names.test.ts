import { describe, expect, it } from "vitest";
import { refusesOwnThinking } from "./model-names.ts";

describe("a Claude that does not accept its own thinking back", () => {
  it.each([
    ...["claude-1", "claude-2.1", "claude-instant-1.2", "anthropic.claude-v2:1"],
    ...["claude-3-opus-20240229", "claude-3-5-sonnet@20240620", "claude-3-7-sonnet-latest"],
    ...["anthropic/claude-3.7-sonnet", "us.anthropic.claude-3-5-haiku-20241022-v1:0"],
    "vertex/claude-sonnet-3-7",
  ])("is of the first three generations: %s", (modelId) => {
    expect(refusesOwnThinking(modelId)).toBe(true);
  });

  it.each([
    ...["claude-opus-4-6", "claude-opus-5-5", "claude-sonnet-5", "claude-haiku-5-20261101"],
    ...["claude-mythos-5-1", "claude-fable-5-1", "anthropic.claude-sonnet-5-5-v1:0"],
    ...["claude-10", "claude-something-new", "eu.anthropic.claude-haiku-4-5-20251001-v1:0"],
    ...["gpt-3", "not-a-sonnet-3"],
  ])("is none that came later, or that nobody knows yet: %s", (modelId) => {
    expect(refusesOwnThinking(modelId)).toBe(false);
  });
});
