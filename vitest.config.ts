import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: ["packages/*", "apps/bench", "apps/gateway", "apps/examples/*", "scripts"],
    // Vitest would leave one core out; and many tests wait for processes they started.
    maxWorkers: availableParallelism() + 1,
    coverage: {
      provider: "v8",
      include: ["packages/*/src/**", "apps/*/src/**"],
      reporter: ["text-summary", "json-summary"],
    },
  },
});
