import { describe, expect, it } from "vitest";
import { classifyError, type Failure } from "./wire-errors.ts";

const NOW = Date.parse("2026-03-01T00:00:00Z");
const origin = {
  provider: "acme",
  endpoint: { baseUrl: "https://api.acme.test/v1", apiKey: "key-12345678" },
  now: () => NOW,
};
const classify = (failure: Failure) => classifyError(failure, origin);
const http = (status: number, body = "", headers: Record<string, string> = {}) =>
  classify({ kind: "http", status, body, headers: new Headers(headers) });
const openai = (message: string, code: string | null = null, type = "invalid_request_error") =>
  JSON.stringify({ error: { message, type, param: null, code } });
const caused = (code: string) =>
  new TypeError("fetch failed", { cause: Object.assign(new Error("connect failed"), { code }) });

describe("classifyError", () => {
  it.each([
    [400, "invalid_request"],
    [401, "auth"],
    [402, "billing"],
    [403, "auth"],
    [404, "not_found"],
    [408, "timeout"],
    [413, "overflow"],
    [422, "invalid_request"],
    [429, "rate_limited"],
    [500, "unavailable"],
    [502, "unavailable"],
    [503, "overloaded"],
    [504, "timeout"],
    [529, "overloaded"],
  ] as const)("knows status %i as %s", (status, kind) => {
    expect(http(status)).toMatchObject({ kind, status });
  });

  it.each([
    ["7", "wait 7 s and"],
    ["119", "wait 119 s and"],
    ["600", "wait 10 min and"],
    ["Sun, 01 Mar 2026 01:00:00 GMT", "wait 60 min and"],
    ["86400", "wait 24 h and"],
  ])("tells a person how long a rate limit lasts: %s", (header, told) => {
    expect(http(429, "", { "retry-after": header }).message).toContain(told);
  });

  it("knows an overflow by its code or words before its status, and reads the count", () => {
    expect(
      http(
        400,
        openai(
          "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
        ),
      ),
    ).toMatchObject({
      kind: "overflow",
      status: 400,
      observedTokens: 9001,
    });
    expect(http(500, openai("too much", "context_length_exceeded"))).toEqual(
      expect.objectContaining({ kind: "overflow", status: 500 }),
    );
    expect(http(413, "")).not.toHaveProperty("observedTokens");
  });

  it("never takes throttling or sign-in for an overflow", () => {
    expect(http(429, openai("maximum context length reached, quota", null))).toMatchObject({
      kind: "rate_limited",
    });
    expect(http(401, openai("context_length_exceeded"))).toMatchObject({ kind: "auth" });
  });

  it("takes a wrong parameter for what it is", () => {
    const words =
      "max_tokens is too large: 5000. This model supports at most 4096 completion tokens, whereas you provided 5000.";
    expect(http(400, openai(words, "invalid_value"))).toMatchObject({ kind: "invalid_request" });
  });

  it("does not wait out a ceiling that waiting does not lift", () => {
    const words = "Request too large for m on tokens per min (TPM): Limit 30000, Requested 52000.";
    expect(http(429, openai(words, "rate_limit_exceeded"))).toMatchObject({
      kind: "invalid_request",
      status: 429,
    });
    expect(http(413, openai(words))).toMatchObject({ kind: "invalid_request" });
  });

  it("reads Retry-After in seconds, as a date and in ms", () => {
    expect(http(429, "", { "retry-after": "2" })).toMatchObject({ retryAfterMs: 2000 });
    expect(http(429, "", { "retry-after": new Date(NOW + 5000).toUTCString() })).toMatchObject({
      retryAfterMs: 5000,
    });
    expect(http(429, "", { "retry-after-ms": "150", "retry-after": "2" })).toMatchObject({
      retryAfterMs: 150,
    });
    expect(http(429, "", { "retry-after": "soon" })).not.toHaveProperty("retryAfterMs");
  });

  it("takes an empty account for a matter of the account, not of waiting", () => {
    expect(
      http(429, openai("You exceeded your current quota", "insufficient_quota")),
    ).toMatchObject({ kind: "billing" });
    const words = "You exceeded your current quota, please check your plan and billing details.";
    expect(http(429, openai(words, ""))).toMatchObject({ kind: "billing" });
  });

  it("knows throttling by its name, whatever the status", () => {
    const throttled = "ThrottlingException: Too many requests, please wait before trying again.";
    expect(http(400, JSON.stringify({ message: throttled }))).toMatchObject({
      kind: "rate_limited",
    });
  });

  it.each([
    ["ECONNREFUSED", "network", "refused the connection"],
    ["ENOTFOUND", "network", "cannot be resolved"],
    ["ECONNRESET", "network", "closed the connection"],
    ["UND_ERR_HEADERS_TIMEOUT", "timeout", "did not answer in time"],
    ["ETIMEDOUT", "timeout", "did not answer in time"],
  ] as const)("says what %s means and names the address", (code, kind, words) => {
    const error = classify({ kind: "network", cause: caused(code) });
    expect(error).toMatchObject({ kind, message: expect.stringContaining(words) });
    expect(error.message).toContain("https://api.acme.test/v1");
  });

  it.each([
    ["ECONNREFUSED", true],
    ["EAI_AGAIN", true],
    ["UND_ERR_CONNECT_TIMEOUT", true],
    ["ECONNRESET", undefined],
    ["UND_ERR_HEADERS_TIMEOUT", undefined],
  ] as const)("knows whether a server may have read the request at %s", (code, unsent) => {
    expect(classify({ kind: "network", cause: caused(code) }).unsent).toBe(unsent);
  });

  it.each([
    ["http://127.0.0.1:11434/v1", "ECONNREFUSED", "start the model server there or correct"],
    ["http://[::1]:1/v1", "ECONNRESET", "start the model server there or correct"],
    ["https://api.acme.test/v1", "ECONNREFUSED", "check the network and the base URL"],
    ["https://api.acme.test/v1", "ENOTFOUND", "check the host name in the base URL"],
    ["http://127.0.0.1:1/v1", "ERR_INVALID_URL", "is no usable address (ERR_INVALID_URL); correct"],
  ])("advises for %s and %s what a person can do", (baseUrl, code, advice) => {
    const failure: Failure = { kind: "network", cause: caused(code) };
    const { message } = classifyError(failure, { ...origin, endpoint: { baseUrl } });
    expect(message).toContain(advice);
  });

  it("says of what is not there which api was spoken", () => {
    const failure: Failure = { kind: "http", status: 404, body: "" };
    expect(classifyError(failure, { ...origin, api: "openai-completions" }).message).toContain(
      'check the model\'s name, the base URL and the api, which was "openai-completions".',
    );
  });

  it("finds the code among the errors of several addresses", () => {
    const several = Object.assign(new Error("all failed"), {
      errors: [Object.assign(new Error("one"), { code: "ECONNREFUSED" })],
    });
    expect(
      classify({ kind: "network", cause: new TypeError("fetch failed", { cause: several }) })
        .message,
    ).toContain("ECONNREFUSED");
  });

  it("reads the words of every error shape in use", () => {
    const bodies = [
      openai("the words"),
      '{"error":"the words"}',
      '{"message":"the words","object":"error"}',
      '{"detail":"the words"}',
      '[{"error":{"code":400,"message":"the words"}}]',
      "the words",
    ];
    for (const body of bodies)
      expect(http(400, body).message).toContain(
        '"acme" (https://api.acme.test/v1) answered 400: the words; ',
      );
    expect(http(502, "<html>gateway</html>").message).toContain("answered 502; try again later.");
  });

  it("repeats no key and no long text", () => {
    const message = http(
      401,
      openai(`Incorrect API key provided: key-12345678, sk-abcdefgh12345678. ${"x".repeat(5000)}`),
    ).message;
    expect(message).not.toMatch(/key-12345678|sk-abcdefgh/);
    expect(message.length).toBeLessThan(500);
    const endpoint = { baseUrl: "https://user:password@host.test/v1" };
    expect(
      classifyError({ kind: "http", status: 500, body: "" }, { provider: "p", endpoint }).message,
    ).toContain("(https://host.test/v1)");
  });

  it("reads an error told in words alone", () => {
    expect(
      classify({
        kind: "text",
        text: '{"error":{"type":"overloaded_error","message":"Overloaded"}}',
      }),
    ).toMatchObject({
      kind: "overloaded",
    });
    expect(classify({ kind: "text", text: "context_length_exceeded" })).toMatchObject({
      kind: "overflow",
    });
  });
});
