// Where the values of a JSON text stand, so that one can be replaced and the rest stays.
import { fromJson } from "../../own-json.ts";

/** From the first character of a value up to the one behind it. */
export interface Span {
  start: number;
  end: number;
}

/**
 * The values of an object by name, the last of those that share one, as parsers take it. The text
 * must be JSON that a parser took, with an object at `start`.
 */
export const memberSpans = (text: string, start = 0): Map<string, Span> =>
  new Map(allMemberSpans(text, start));

/** Likewise, each of those that share a name. */
export function allMemberSpans(text: string, start = 0): [name: string, Span][] {
  const spans: [name: string, Span][] = [];
  let at = behindSpace(text, behindSpace(text, start) + 1);
  while (text[at] === '"') {
    const nameEnd = behindString(text, at);
    const value = behindSpace(text, behindSpace(text, nameEnd) + 1);
    const end = behindValue(text, value);
    spans.push([fromJson(text.slice(at, nameEnd)) as string, { start: value, end }]);
    at = behindSpace(text, behindSpace(text, end) + 1);
  }
  return spans;
}

/** The values of an array, in order. The text must be JSON with an array at `start`. */
export function elementSpans(text: string, start: number): Span[] {
  const spans: Span[] = [];
  let at = behindSpace(text, start + 1);
  while (at < text.length && text[at] !== "]") {
    const end = behindValue(text, at);
    spans.push({ start: at, end });
    const next = behindSpace(text, end);
    if (text[next] !== ",") break;
    at = behindSpace(text, next + 1);
  }
  return spans;
}

function behindSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length && text.charCodeAt(at) <= 32) at++;
  return at;
}

function behindString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return at + 1;
  }
  return text.length;
}

function behindValue(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return behindString(text, start);
  if (first === "{" || first === "[") return behindNest(text, start);
  const ends = /[,\]}\s]/g;
  ends.lastIndex = start;
  return ends.exec(text)?.index ?? text.length;
}

function behindNest(text: string, start: number): number {
  const marks = /["[\]{}]/g;
  marks.lastIndex = start;
  let depth = 0;
  for (let mark = marks.exec(text); mark !== null; mark = marks.exec(text)) {
    if (mark[0] === '"') marks.lastIndex = behindString(text, mark.index);
    else if (mark[0] === "{" || mark[0] === "[") depth++;
    else if (--depth === 0) return mark.index + 1;
  }
  return text.length;
}
