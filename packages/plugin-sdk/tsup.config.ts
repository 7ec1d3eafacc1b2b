import { defineConfig } from "tsup";
import { base } from "../../tsup.shared.ts";

export default defineConfig({
  ...base,
  entry: [
    "src/core.ts",
    "src/host.ts",
    "src/transcript.ts",
    "src/tokens.ts",
    "src/testing.ts",
    "src/memory-host-core.ts",
    "src/testing/check/main.ts",
  ],
});
