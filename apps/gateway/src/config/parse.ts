// Reads a value as the configuration, and says in plain words what is wrong with it.
import type { z } from "zod";
import { mustBeOf, plainIssue } from "./plain-issue.ts";
import { type Config, ConfigSchema } from "./schema.ts";

export interface ConfigProblem {
  path: PropertyKey[];
  /** e.g. "must be a number". */
  message: string;
}

export type ParsedConfig =
  | { ok: true; config: Config }
  | { ok: false; problems: [ConfigProblem, ...ConfigProblem[]] };

/** Pure. */
export function parseConfig(value: unknown): ParsedConfig {
  const parsed = ConfigSchema.safeParse(value, { error: plainIssue });
  return parsed.success
    ? { ok: true, config: parsed.data }
    : {
        ok: false,
        problems: parsed.error.issues.flatMap(flatten) as [ConfigProblem, ...ConfigProblem[]],
      };
}

/** Of a union the issues of its closest variant: that no variant fits helps nobody. */
function flatten(issue: z.core.$ZodIssue): ConfigProblem[] {
  if (issue.code !== "invalid_union" || issue.errors.length === 0)
    return [{ path: issue.path, message: issue.message }];
  const types = issue.errors.map(([first]) => first);
  const isOfWrongType = (each: z.core.$ZodIssue | undefined) =>
    each?.code === "invalid_type" && each.path.length === 0;
  if (types.every(isOfWrongType)) {
    const expected = types.map((each) => (each as z.core.$ZodIssueInvalidType).expected);
    return [{ path: issue.path, message: mustBeOf(expected) }];
  }
  const deepest = issue.errors.reduce((best, each) => (depth(each) >= depth(best) ? each : best));
  return deepest
    .flatMap(flatten)
    .map(({ path, message }) => ({ path: [...issue.path, ...path], message }));
}

/**
 * A variant that fails further inside, or at a rule rather than at the type,
 * is the one that was meant.
 */
function depth(issues: readonly z.core.$ZodIssue[]): number {
  return Math.max(
    0,
    ...issues.map((issue) => issue.path.length * 2 + (issue.code === "invalid_type" ? 0 : 1)),
  );
}
