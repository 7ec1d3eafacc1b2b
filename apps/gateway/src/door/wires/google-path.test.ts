import { describe, expect, it } from "vitest";
import { readGooglePath } from "./google-path.ts";

describe("a path of Google's", () => {
  it.each([
    ["/v1beta/models/gemini-3:generateContent", "gemini-3", "generateContent"],
    ["/v1/models/clew/second:streamGenerateContent", "clew/second", "streamGenerateContent"],
    ["/v1beta/models/clew%2Fsecond:countTokens", "clew/second", "countTokens"],
    ["/v1beta/models/llama:8b:generateContent", "llama:8b", "generateContent"],
    ["/v1beta/models/100%:generateContent", "100%", "generateContent"],
  ])("%s names its model and method", (path, model, method) => {
    expect(readGooglePath(path)).toEqual({ model, method });
  });

  it.each(["/v1beta/models", "/v1beta/models/", "/v1beta/models/gemini-3", "/v1/models/:x"])(
    "%s names none",
    (path) => {
      expect(readGooglePath(path)).toBeUndefined();
    },
  );
});
