// Matches the patterns of a plugin's schema, which may take for ever, in bounded time.
import { inTime } from "./bounded-time.ts";

/** Patterns of one value, ms: a usual one takes far less than one. */
const BOUND_MS = 500;

/** Thrown where patterns take longer; its message says which. */
export class SlowPatternError extends Error {}

/** What Ajv takes for `new RegExp`. */
export interface PatternMaker {
  (source: string, flags: string): RegExp;
  /** Stands for it in code that Ajv would write to a file. */
  code: string;
}

/** The patterns of one schema; `begin` before each value that is checked against it. */
export function boundedPatterns(): { make: PatternMaker; begin(): void } {
  let end = 0;
  const test = (pattern: RegExp, text: string): boolean => {
    const late = () =>
      new SlowPatternError(
        `the pattern ${pattern.source.slice(0, 100)} of its schema takes longer than ${BOUND_MS} ms to check`,
      );
    return inTime(Math.ceil(end - performance.now()), late, () => pattern.test(text));
  };
  const make = (source: string, flags: string) => {
    const pattern = new RegExp(source, flags);
    return { test: (text: string) => test(pattern, text), toString: () => String(pattern) };
  };
  return {
    make: Object.assign(make, { code: "new RegExp" }) as unknown as PatternMaker,
    begin() {
      end = performance.now() + BOUND_MS;
    },
  };
}
