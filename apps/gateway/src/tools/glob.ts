// Decides which paths a pattern names, in a time that no pattern makes long.
import { sep } from "node:path";
import { number } from "../text/number.ts";

const MAX_CHARS = 300;
/** That the braces of one pattern may stand for. */
const MAX_PATTERNS = 100;

/** The paths a pattern names, or in a sentence why it is not taken. Pure. */
export type Glob = { matches(path: string): boolean } | { why: string };

/**
 * Knows `*`, `**`, `?`, `[abc]`, `[!a-z]`, `{a,b}` and `{1..9}`. Each row of names is gone along
 * once per star, never once per way to lay the stars: a regular expression would take for ever.
 */
export function planGlob(pattern: string): Glob {
  if (pattern.length > MAX_CHARS)
    return {
      why: `The pattern has ${number(pattern.length)} characters, and up to ${MAX_CHARS} are taken; name a shorter one.`,
    };
  const unknown = /[@!+*?]\(/.exec(pattern)?.[0];
  if (unknown !== undefined)
    return {
      why: `The pattern has "${unknown}", which is not known here; known are *, **, ?, [abc], {a,b} and {1..9}.`,
    };
  const plain = planBraces(pattern.replaceAll("\\", "/"));
  if (plain === undefined)
    return {
      why: `The braces of the pattern stand for more than ${MAX_PATTERNS} patterns; list the files by several simpler ones.`,
    };
  const ways = plain.map(segmentsOf);
  return {
    matches(path) {
      const names = path.split(sep).map((name) => [...name]);
      return ways.some((segments) => isRow(segments, names, ANY_FOLDERS, isName));
    },
  };
}

/** What the braces stand for; undefined when that is too much. */
function planBraces(pattern: string): string[] | undefined {
  for (let open = pattern.indexOf("{"); open !== -1; open = pattern.indexOf("{", open + 1)) {
    const group = groupAt(pattern, open);
    if (group === undefined) continue;
    const rest = planBraces(pattern.slice(group.end));
    if (rest === undefined || group.inner === undefined) return undefined;
    const inner: string[] = [];
    for (const part of group.inner) {
      const stands = planBraces(part);
      if (stands === undefined) return undefined;
      inner.push(...stands);
    }
    if (inner.length * rest.length > MAX_PATTERNS) return undefined;
    const before = pattern.slice(0, open);
    return inner.flatMap((middle) => rest.map((after) => before + middle + after));
  }
  return [pattern];
}

interface Group {
  /** Absent: more than are taken. */
  inner: string[] | undefined;
  /** Behind the brace that closes it. */
  end: number;
}

/** What stands in braces from `open` on; undefined when they are braces and nothing more. */
function groupAt(pattern: string, open: number): Group | undefined {
  const inner: string[] = [];
  let depth = 0;
  let from = open + 1;
  for (let at = open; at < pattern.length; at++) {
    const char = pattern[at];
    if (char === "{") depth++;
    if (char === "," && depth === 1) {
      inner.push(pattern.slice(from, at));
      from = at + 1;
    }
    if (char !== "}" || --depth > 0) continue;
    inner.push(pattern.slice(from, at));
    const range = inner.length > 1 ? undefined : rangeOf(inner[0]!);
    if (inner.length === 1 && range === undefined) return undefined;
    return { inner: range === undefined ? inner : range.all, end: at + 1 };
  }
  return undefined;
}

/** Of "1..9"; without `all` when there are too many. */
function rangeOf(text: string): { all: string[] | undefined } | undefined {
  const [, first, last] = /^(-?\d+)\.\.(-?\d+)$/.exec(text) ?? [];
  if (first === undefined || last === undefined) return undefined;
  const [low, high] = [Number(first), Number(last)].sort((a, b) => a - b) as [number, number];
  if (!(high - low < MAX_PATTERNS)) return { all: undefined };
  return { all: Array.from({ length: high - low + 1 }, (_, step) => `${low + step}`) };
}

const ANY_FOLDERS = Symbol("**");
const ANY_CHARS = Symbol("*");
const ANY_CHAR = Symbol("?");

/** Of one character: itself, any, or one of these ranges. */
type Char = string | typeof ANY_CHARS | typeof ANY_CHAR | Ranges;
type Segment = typeof ANY_FOLDERS | readonly Char[];

interface Ranges {
  all: readonly (readonly [from: string, to: string])[];
  isNot: boolean;
}

function segmentsOf(pattern: string): Segment[] {
  const names = pattern.split("/").filter((name) => name !== ".");
  // What ends so means files below, and not a file of that name.
  if (names.at(-1) === "**") names.push("*");
  return names.map((name) => (name === "**" ? ANY_FOLDERS : charsOf(name)));
}

function charsOf(name: string): Char[] {
  return (name.match(/\[[!^]?(?:\][^\]]*|[^\]]+)\]|./gsu) ?? []).map((part) => {
    if (part === "*") return ANY_CHARS;
    if (part === "?") return ANY_CHAR;
    if (part.length === 1 || !part.startsWith("[")) return part;
    const isNot = /^\[[!^]/.test(part);
    const inside = part.slice(isNot ? 2 : 1, -1);
    const ranges = inside.match(/.-.|./gsu) ?? [];
    return { isNot, all: ranges.map((range) => [[...range][0]!, [...range].at(-1)!]) };
  });
}

const isName = (segment: Segment, name: readonly string[]): boolean =>
  segment !== ANY_FOLDERS && isRow(segment, name, ANY_CHARS, isChar);

function isChar(wanted: Char, char: string): boolean {
  if (typeof wanted !== "object") return wanted === ANY_CHAR || wanted === char;
  return wanted.all.some(([from, to]) => from <= char && char <= to) !== wanted.isNot;
}

/** Whether a row is as wanted, where `any` stands for any number of its parts. */
function isRow<Wanted, Part>(
  wanted: readonly Wanted[],
  row: readonly Part[],
  any: Wanted,
  fits: (wanted: Wanted, part: Part) => boolean,
): boolean {
  let at = 0;
  let part = 0;
  /** Behind the last `any`, and up to where of the row that one reaches. */
  let last: { behind: number; upTo: number } | undefined;
  while (part < row.length) {
    if (at < wanted.length && wanted[at] === any) last = { behind: ++at, upTo: part };
    else if (at < wanted.length && fits(wanted[at]!, row[part]!)) {
      at++;
      part++;
    } else if (last === undefined) return false;
    else {
      at = last.behind;
      part = ++last.upTo;
    }
  }
  return wanted.slice(at).every((rest) => rest === any);
}
