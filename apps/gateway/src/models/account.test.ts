import { describe, expect, it } from "vitest";
import { accountFingerprint } from "./account.ts";

describe("the fingerprint of an account", () => {
  it("tells keys and providers apart, and holds nothing of the key", () => {
    const secret = "sk-a-long-secret-key";
    const print = accountFingerprint({ provider: "openai", secret });
    expect(print).toMatch(/^[0-9a-f]{12}$/);
    expect(accountFingerprint({ provider: "openai", secret })).toBe(print);
    expect(accountFingerprint({ provider: "azure-openai", secret })).not.toBe(print);
    expect(accountFingerprint({ provider: "openai", secret: `${secret}2` })).not.toBe(print);
  });
});
