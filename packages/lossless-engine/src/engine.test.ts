import { testEngine } from "@clew/plugin-sdk/testing";
import { it } from "vitest";
import { createLosslessEngine } from "./engine.ts";

testEngine({ test: it, create: createLosslessEngine });
