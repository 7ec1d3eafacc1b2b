import type { ModelError } from "@clew/plugin-sdk/host";
import { describe, expect, it } from "vitest";
import { MODEL } from "../__fixtures__/host.ts";
import { planFallback, reasonCodeOf } from "./plan-fallback.ts";

const sibling = { model: { ...MODEL, id: "sibling" } };
const other = { model: { ...MODEL, provider: "other" } };
const larger = { model: { ...MODEL, provider: "other", contextWindow: 200_000 } };

describe("planFallback", () => {
  it.each<[ModelError["kind"], number | undefined]>([
    ["overloaded", 0],
    ["unavailable", 0],
    ["rate_limited", 0],
    ["timeout", 0],
    ["not_found", 0],
    ["invalid_response", 0],
    ["signature", 0],
    ["encrypted_content", 0],
    ["pairing", 0],
    ["reasoning_required", 0],
    ["cache_rejected", 0],
    ["auth", 1],
    ["billing", 1],
    ["network", 1],
    ["overflow", 2],
    ["refused", undefined],
    ["invalid_request", undefined],
    ["aborted", undefined],
  ])("after %s asks candidate %s", (kind, place) => {
    expect(planFallback({ kind }, MODEL, [sibling, other, larger])).toBe(place);
    expect(planFallback({ kind }, MODEL, [])).toBeUndefined();
  });

  it("asks another account of the same provider after a refused key", () => {
    const account = { model: { ...sibling.model, account: "b" } };
    expect(planFallback({ kind: "auth" }, { ...MODEL, account: "a" }, [account])).toBe(0);
  });

  it("tells engines a reason they know", () => {
    expect(
      (["rate_limited", "timeout", "overflow", "auth", "overloaded"] as const).map(reasonCodeOf),
    ).toEqual([
      "rate_limited",
      "provider_timeout",
      "context_overflow",
      "provider_unavailable",
      "provider_unavailable",
    ]);
  });
});
