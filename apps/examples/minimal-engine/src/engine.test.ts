import { testEngine } from "@clew/plugin-sdk/testing";
import { it } from "vitest";
import { createEngine } from "./engine.ts";

testEngine({ test: it, create: createEngine });
