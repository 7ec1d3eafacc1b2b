import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      "packages/*",
      "apps/bench",
      "apps/gateway",
      "apps/openclaw-check",
      "apps/examples/*",
      "scripts",
    ],
    coverage: {
      provider: "v8",
      include: ["packages/*/src/**", "apps/*/src/**"],
      reporter: ["text-summary", "json-summary"],
    },
  },
});
