import { describe, expect, it } from "vitest";
import { installedImageCodec } from "../models/image-codec.ts";
import { checkImages } from "./check-images.ts";

describe("the doctor's look at images", () => {
  it("says nothing where the image library is installed", () => {
    expect(installedImageCodec().imageCodec).toBeDefined();
    expect(checkImages()).toEqual([]);
  });

  it("tells what happens to large images where it was left out", () => {
    expect(checkImages({})).toEqual([
      expect.objectContaining({
        level: "note",
        code: "images-not-reduced",
        text: expect.stringContaining("sharp is not installed"),
      }),
    ]);
  });
});
