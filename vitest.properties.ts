// How many cases property tests try, from which seed, and how long at most.
import fc from "fast-check";

/** "1" = thousands; a larger number is the number of cases. */
const { CLEW_FUZZ: wanted = "0" } = process.env;
const fuzzing = Number(wanted) > 0;
const LIMIT_MS = 10_000;

/**
 * A busy machine tries fewer cases and does not fail for it. The case that is running is waited
 * for: left behind, it would go on writing to folders that its test has deleted.
 */
const beginNoneLate: fc.Plugin<unknown> = () => {
  const end = performance.now() + LIMIT_MS;
  return {
    decorateRun: (run) => (value) =>
      performance.now() < end ? run(value) : new fc.PreconditionFailure(true),
  };
};

fc.configureGlobal({
  seed: Number(process.env.CLEW_SEED),
  numRuns: wanted === "1" ? 3000 : fuzzing ? Number(wanted) : 100,
  ...(!fuzzing && { plugins: [beginNoneLate] }),
});
