import { describe, expect, it } from "vitest";
import { awsSigner } from "./signing.ts";

const { signal } = new AbortController();
const REQUEST = {
  method: "POST" as const,
  url: `https://bedrock-runtime.eu-west-1.amazonaws.com/model/${encodeURIComponent(
    "arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-opus-4-5-20251101-v1:0",
  )}/converse-stream`,
  headers: { "content-type": "application/json", accept: "*/*" },
  body: '{"messages":[{"role":"user","content":[{"text":"Ünï 🌍"}]}]}',
};

describe("a signature for AWS", () => {
  it("is the one that AWS's own signer makes", async () => {
    const sign = awsSigner({
      region: "eu-west-1",
      keys: () =>
        Promise.resolve({
          accessKeyId: "AKIAEXAMPLE",
          secretAccessKey: "secret",
          sessionToken: "tok/en+=",
        }),
      now: () => Date.parse("2026-03-01T00:00:00Z"),
    });
    expect(await sign(REQUEST, { signal })).toEqual({
      "x-amz-date": "20260301T000000Z",
      "x-amz-security-token": "tok/en+=",
      authorization:
        "AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/20260301/eu-west-1/bedrock/aws4_request, SignedHeaders=host;x-amz-date;x-amz-security-token, Signature=85059808c7a8fbdd8e63c0f420ccf51f77d5093dc0dae9c028ec5648fd1d8d5d",
    });
  });

  it("is made with new keys and a new date each time", async () => {
    let asked = 0;
    const sign = awsSigner({
      region: "eu-west-1",
      keys: () => Promise.resolve({ accessKeyId: `AKIA${++asked}`, secretAccessKey: "s" }),
      now: () => asked * 1000,
    });
    const dates = [await sign(REQUEST, { signal }), await sign(REQUEST, { signal })];
    expect(dates.map((headers) => headers["x-amz-date"])).toEqual([
      "19700101T000001Z",
      "19700101T000002Z",
    ]);
    expect(dates[1]?.authorization).toContain("AKIA2/");
    expect(dates[1]).not.toHaveProperty("x-amz-security-token");
  });
});
