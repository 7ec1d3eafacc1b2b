import { describe, expect, it } from "vitest";
import * as losslessEngine from "./index.ts";

describe("@clew/lossless-engine", () => {
  it("exports its id and no engine that would pretend to keep anything", () => {
    expect({ ...losslessEngine }).toEqual({ LOSSLESS_ENGINE_ID: "lossless" });
  });
});
