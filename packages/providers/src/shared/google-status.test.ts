import { describe, expect, it } from "vitest";
import { classifyError } from "./wire-errors.ts";

const origin = {
  provider: "google",
  endpoint: { baseUrl: "https://generativelanguage.googleapis.com/v1beta" },
};
const TYPE = "type.googleapis.com/google.rpc.";
const classify = (code: number, status: string, message: string, details: object[] = []) =>
  classifyError(
    {
      kind: "http",
      status: code,
      body: JSON.stringify({ error: { code, message, status, details } }),
    },
    origin,
  );
const QUOTA = "You exceeded your current quota, please check your plan and billing details.";

describe("an error of Google", () => {
  it("asks to wait as long as its details say, whatever its words say of billing", () => {
    const details = [
      { "@type": `${TYPE}QuotaFailure`, violations: [{ quotaId: "PerDay", quotaValue: "20" }] },
      { "@type": `${TYPE}RetryInfo`, retryDelay: "36.5s" },
    ];
    const limit = `${QUOTA}\n* Quota exceeded for metric: x, limit: 20`;
    expect(classify(429, "RESOURCE_EXHAUSTED", limit, details)).toMatchObject({
      kind: "rate_limited",
      retryAfterMs: 36_500,
    });
    expect(classify(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted.")).not.toHaveProperty(
      "retryAfterMs",
    );
  });

  it("is a matter of the account where it has no quota for this at all", () => {
    const none = `${QUOTA}\n* Quota exceeded for metric: x, limit: 0, model: gemini-3.1-pro`;
    expect(classify(429, "RESOURCE_EXHAUSTED", none)).toMatchObject({ kind: "billing" });
  });

  it.each([
    [400, "INVALID_ARGUMENT", "API key not valid.", "API_KEY_INVALID", "auth"],
    [403, "PERMISSION_DENIED", "Not allowed.", undefined, "auth"],
    [403, "PERMISSION_DENIED", "This needs billing.", "BILLING_DISABLED", "billing"],
    [400, "FAILED_PRECONDITION", "Please enable billing on your project.", undefined, "billing"],
    [503, "UNAVAILABLE", "The model is overloaded.", undefined, "overloaded"],
    [504, "DEADLINE_EXCEEDED", "Too slow.", undefined, "timeout"],
    [500, "INTERNAL", "Something went wrong.", undefined, "unavailable"],
    [404, "NOT_FOUND", "models/x is not found.", undefined, "not_found"],
    [400, "INVALID_ARGUMENT", "Unknown name.", undefined, "invalid_request"],
  ])("of %i %s, “%s” (%s), is %s", (code, status, message, reason, kind) => {
    const details = reason === undefined ? [] : [{ "@type": `${TYPE}ErrorInfo`, reason }];
    expect(classify(code, status, message, details)).toMatchObject({ kind });
    // The same inside a stream, where the status may be all there is.
    const text = JSON.stringify({ error: { message, status, details } });
    if (code !== 404) expect(classifyError({ kind: "text", text }, origin)).toMatchObject({ kind });
  });

  it("tells an overflow with both numbers", () => {
    const message =
      "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
    expect(classify(400, "INVALID_ARGUMENT", message)).toMatchObject({
      kind: "overflow",
      observedTokens: 1_200_000,
      windowTokens: 1_048_576,
    });
  });

  it("is repeated without keys and tokens", () => {
    const message = "Consumer 'api_key:AIzaSyA1234567890' with ya29.a0Aa7pCA_x is suspended.";
    expect(classify(403, "PERMISSION_DENIED", message).message).toContain(
      "Consumer 'api_key:[key]' with [key] is suspended",
    );
  });
});
