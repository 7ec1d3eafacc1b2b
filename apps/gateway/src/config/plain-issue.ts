// Says what is wrong with a value of the settings, in words for people.
import type { z } from "zod";
import { nearestName } from "../text/nearest.ts";

/** For zod, in the place of its own words; undefined leaves those of a setting's own rule. */
export function plainIssue(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined
        ? `is missing; it must be ${wordFor(issue.expected)}`
        : `must be ${wordFor(issue.expected)}`;
    case "invalid_value":
      return mustBeOneOf(issue.values.map(String), issue.input);
    case "too_big":
      return `must be ${bound(issue.origin, issue.inclusive === false ? "less than" : "at most", issue.maximum)}`;
    case "too_small":
      return `must be ${bound(issue.origin, issue.inclusive === false ? "more than" : "at least", issue.minimum)}`;
    case "invalid_format":
      return "has not the form that is wanted";
    case "invalid_key":
      return (
        issue.issues.find(({ code }) => code === "custom")?.message ??
        "has a name that cannot be one"
      );
    default:
      return undefined;
  }
}

/** Of what could be of several types and is of none. */
export const mustBeOf = (expected: readonly string[]): string =>
  `must be ${[...new Set(expected.map(wordFor))].join(" or ")}`;

const WORDS: Readonly<Record<string, string>> = {
  ...{ string: "text", number: "a number", int: "a whole number", boolean: "true or false" },
  ...{ object: "an object in braces", record: "an object in braces", array: "a list in brackets" },
};

const wordFor = (expected: string): string => WORDS[expected] ?? expected;

function mustBeOneOf(values: readonly string[], given: unknown): string {
  const near = typeof given === "string" ? nearestName(given, values) : null;
  const guess = near === null ? "" : `; did you mean ${near}?`;
  return values.length === 1
    ? `must be ${values[0]}`
    : `must be one of ${values.join(", ")}${guess}`;
}

function bound(origin: string, side: string, limit: number | bigint): string {
  const size = `${side} ${limit}`;
  if (origin === "string") return `${size} characters long`;
  return origin === "array" || origin === "set" ? `a list of ${size}` : size;
}
