// What the tests of every project share: sibling sources, time limits, property tests that explore.
import { randomInt } from "node:crypto";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const fuzzing = Number(process.env.CLEW_FUZZ ?? "0") > 0;
const FUZZING_MS = 1_800_000;

// One seed for all property tests of a run; workers inherit it. The one who
// set it knows it already.
if (process.env.CLEW_SEED === undefined) {
  process.env.CLEW_SEED = String(randomInt(2 ** 31));
  process.stderr.write(
    `property tests: CLEW_SEED=${process.env.CLEW_SEED}${fuzzing ? ` CLEW_FUZZ=${process.env.CLEW_FUZZ}` : ""} runs the same cases again\n`,
  );
}

// Whoever starts something for all workers of a run lets it end with this process.
process.env.CLEW_TEST_RUNNER ??= `${process.pid}-${Date.now().toString(36)}`;

// "@clew/source" is our own export condition: tests read the TypeScript sources of sibling
// packages, so they need no build.
export default defineConfig({
  resolve: { conditions: ["@clew/source"] },
  ssr: { resolve: { conditions: ["@clew/source"] } },
  test: {
    include: ["src/**/*.test.ts"],
    setupFiles: [fileURLToPath(new URL("vitest.properties.ts", import.meta.url))],
    // All test files of a worker share one load of the modules: these keep no state of their own,
    // and a test puts back what it changes in the process.
    isolate: false,
    // Vitest would leave a core out; and many tests wait for processes they started.
    maxWorkers: availableParallelism() + 1,
    // A limit is there to end what hangs; a busy machine is not that. Fuzzing takes its time.
    testTimeout: fuzzing ? FUZZING_MS : 30_000,
    hookTimeout: 30_000,
    expect: { poll: { timeout: 20_000 } },
  },
});

/** For projects whose tests start processes, one after the other: a busy machine takes long. */
export const limitsWithProcesses = {
  testTimeout: fuzzing ? FUZZING_MS : 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 120_000 } },
};
