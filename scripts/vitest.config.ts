import { mergeConfig } from "vitest/config";
import shared, { limitsWithProcesses } from "../vitest.shared.ts";

// The repository's own rules: the import star, generated docs, READMEs that run.
export default mergeConfig(shared, {
  test: { name: "repository", ...limitsWithProcesses, include: ["**/*.test.ts"] },
});
