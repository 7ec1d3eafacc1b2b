import { describe, expect, it } from "vitest";
import { toldIn } from "./told.ts";

describe("what a Messages server says besides", () => {
  it("is why its cache was missed, what it left out, and what it cleared", () => {
    expect(
      toldIn({
        diagnostics: {
          cache_miss_reason: { type: "tools_changed", cache_missed_input_tokens: 1200 },
        },
        input_transformations: [
          {
            type: "thinking_dropped",
            path: "messages.1.content.0",
            reason: "prefix_binding_mismatch",
          },
        ],
        context_management: {
          applied_edits: [
            {
              type: "clear_tool_uses_20250919",
              cleared_tool_uses: 8,
              cleared_input_tokens: 50_000,
            },
          ],
        },
      }),
    ).toEqual({
      cacheMiss: { reason: "tools_changed", tokens: 1200 },
      changes: [
        "thinking_dropped messages.1.content.0 prefix_binding_mismatch",
        "clear_tool_uses_20250919 8 tool uses 50000 tokens",
      ],
    });
  });

  it("is nothing when it says nothing, or nothing that makes sense", () => {
    for (const nothing of [
      {},
      { diagnostics: null },
      { diagnostics: { cache_miss_reason: null } },
      { input_transformations: "x", context_management: { applied_edits: [null, 3] } },
    ])
      expect(toldIn(nothing)).toEqual({});
  });
});
