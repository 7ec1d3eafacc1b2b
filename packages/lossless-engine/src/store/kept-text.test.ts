import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keptText, textKept } from "./kept-text.ts";

const TEXT =
  '{"role":"assistant","content":[{"type":"text","text":"The function returns a value without an error."}],"stopReason":"stop"}';

describe("a kept text", () => {
  it("comes back as it was, compressed or not", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 400 }),
        fc.boolean(),
        (text, compresses) => {
          const long = text.repeat(3);
          expect(textKept(keptText(long, compresses))).toBe(long);
        },
      ),
    );
  });

  it("is as long as it is, or shorter", () => {
    expect(keptText(TEXT, false)).toBe(TEXT);
    expect(keptText(TEXT, true).length).toBeLessThan(TEXT.length / 2);
    expect(keptText("short", true)).toBe("short");
  });

  it.each([
    [
      "with the dictionary",
      "KLUv/SB8ZQEAkFRocyBhIGFuLiJ9XXN0b3AifQcAcdNJU3nggCAJ14ADOQ2cUZR8hG+QAAI=",
    ],
    [
      "before there was one",
      "KLUv/SB8HQMA8oYVGJApbd0/QpRkEMl44W7Srm2mrDY5Y+YTAolRfm2MuXYBlF8XQmKApuoVWj2l8XOoS4cZympR008L87zAVKgzBDaIO0rcyMD4eMcsXHy079k1G9+RaiQDACoCesagCNQT",
    ],
  ])("that was compressed %s is read for good", (_, bytes) => {
    expect(textKept(Buffer.from(bytes, "base64"))).toBe(TEXT);
  });
});
