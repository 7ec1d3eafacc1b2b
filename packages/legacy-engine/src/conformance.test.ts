import { testEngine } from "@clew/plugin-sdk/testing";
import { describe, it } from "vitest";
import { createLegacyEngine } from "./engine.ts";

describe("the legacy engine keeps the contract", () => {
  testEngine({ test: it, create: createLegacyEngine });
});
