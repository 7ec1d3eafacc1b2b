import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { isProvenRequest, newNonce, proofOfGateway, proofOfRequest } from "./identity.ts";

const SECRET = "ab".repeat(32);

describe("what a gateway proves", () => {
  it("holds for its port, the nonce it was asked with and its secret, and nothing else", () => {
    const nonce = newNonce();
    const proof = proofOfGateway(SECRET, { port: 1, nonce });
    expect(proof).toBe(proofOfGateway(SECRET, { port: 1, nonce }));
    expect(proof).not.toBe(proofOfGateway(SECRET, { port: 2, nonce }));
    expect(proof).not.toBe(proofOfGateway(SECRET, { port: 1, nonce: newNonce() }));
    expect(proof).not.toBe(proofOfGateway("cd".repeat(32), { port: 1, nonce }));
  });

  it("is nothing when it is asked without a nonce of the right form", () => {
    for (const nonce of [undefined, "", "0".repeat(31), "0".repeat(33), "G".repeat(32)])
      expect(proofOfGateway(SECRET, { port: 1, nonce })).toBeNull();
  });
});

describe("what a request proves", () => {
  const reload = { method: "POST", path: "/api/plugins/reload" };

  it("holds for its method, its path and its gateway's secret, and nothing else", () => {
    const proof = proofOfRequest(SECRET, reload);
    expect(isProvenRequest(SECRET, proof, reload)).toBe(true);
    expect(isProvenRequest("cd".repeat(32), proof, reload)).toBe(false);
    expect(isProvenRequest(SECRET, proof, { ...reload, method: "GET" })).toBe(false);
    expect(isProvenRequest(SECRET, proof, { ...reload, path: "/api/plugins" })).toBe(false);
  });

  it("is nothing when its nonce has another form or was exchanged", () => {
    const [, found] = proofOfRequest(SECRET, reload).split(":");
    expect(isProvenRequest(SECRET, `${newNonce()}:${found}`, reload)).toBe(false);
    const short = createHmac("sha256", SECRET).update("request POST /api/plugins/reload 00");
    expect(isProvenRequest(SECRET, `00:${short.digest("hex")}`, reload)).toBe(false);
    expect(isProvenRequest(SECRET, "", reload)).toBe(false);
  });
});
