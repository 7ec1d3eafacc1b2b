import { defineConfig } from "vitest/config";

// "@clew/source" is our own export condition: tests read the TypeScript sources of sibling packages, so they need no build.
export default defineConfig({
  resolve: { conditions: ["@clew/source"] },
  ssr: { resolve: { conditions: ["@clew/source"] } },
  test: { include: ["src/**/*.test.ts"] },
});
