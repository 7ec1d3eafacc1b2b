import { describe, expect, it } from "vitest";
import { isImageUrl } from "./image-url.ts";

describe("the address of an image", () => {
  it("may be one of the web, or hold the image, however large it is", () => {
    expect(isImageUrl("https://example.net/a.png")).toBe(true);
    expect(isImageUrl(`data:image/png;base64,${"A".repeat(12_000_000)}`)).toBe(true);
    expect(isImageUrl("data:image/jpeg;base64,QQ==")).toBe(true);
  });

  it.each([
    ["of a file", "file:///a.png"],
    ["of another type", "data:image/bmp;base64,QQ=="],
    ["badly padded", "data:image/png;base64,QQ="],
    ["with a space", "data:image/png;base64,Q Q="],
    ["with a foreign sign far behind", `data:image/png;base64,${"A".repeat(12_000_000)}%AAA`],
  ])("is none %s", (_what, url) => {
    expect(isImageUrl(url)).toBe(false);
  });
});
