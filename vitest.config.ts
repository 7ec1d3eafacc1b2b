import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: ["packages/*", "apps/*", "!apps/examples", "apps/examples/*", "scripts"],
    coverage: {
      provider: "v8",
      include: ["packages/*/src/**", "apps/*/src/**"],
      reporter: ["text-summary", "json-summary"],
    },
  },
});
