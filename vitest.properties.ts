// How many cases property tests try, from which seed, and how long at most.
import fc from "fast-check";

const fuzzing = process.env.CLEW_FUZZ === "1";

fc.configureGlobal({
  seed: Number(process.env.CLEW_SEED),
  numRuns: fuzzing ? 3000 : 100,
  // A busy machine tries fewer cases and does not fail for it.
  ...(!fuzzing && { interruptAfterTimeLimit: 10_000 }),
});
