// Reads a regular expression, in the part of the syntax that can be searched in linear time.

/** Which code points a place takes; both ends of each range belong to it. */
export interface CharSet {
  readonly ranges: readonly (readonly [from: number, to: number])[];
  readonly isNegated: boolean;
}

/** What has to hold between two characters. */
export type Assertion = "line-start" | "line-end" | "word-edge" | "no-word-edge";

export type PatternNode =
  | { readonly kind: "set"; readonly set: CharSet }
  | { readonly kind: "sequence"; readonly parts: readonly PatternNode[] }
  | { readonly kind: "choice"; readonly options: readonly PatternNode[] }
  | {
      readonly kind: "repeat";
      readonly part: PatternNode;
      readonly least: number;
      /** Infinity: any number. */
      readonly most: number;
    }
  | { readonly kind: "assertion"; readonly assertion: Assertion };

/** For people: why a pattern cannot be searched for. */
export class PatternError extends Error {
  override readonly name = "PatternError";
}

/** One clause, the same wherever a pattern is given; what else there is to try follows it. */
export const unsearchable = ({ message }: PatternError): string =>
  `This pattern cannot be searched for: ${message}`;

const DIGIT: readonly (readonly [number, number])[] = [[48, 57]];
const WORD: CharSet["ranges"] = [
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
];
const SPACE: CharSet["ranges"] = [
  [9, 13],
  [32, 32],
  [160, 160],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const CLASSES: Readonly<Record<string, CharSet>> = {
  d: { ranges: DIGIT, isNegated: false },
  D: { ranges: DIGIT, isNegated: true },
  w: { ranges: WORD, isNegated: false },
  W: { ranges: WORD, isNegated: true },
  s: { ranges: SPACE, isNegated: false },
  S: { ranges: SPACE, isNegated: true },
};
const CONTROLS: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, f: 12, v: 11, "0": 0 };
/** All but a line feed. */
const ANY: CharSet = { ranges: [[10, 10]], isNegated: true };
const MOST_REPEATS = 1_000;
const DEEPEST = 100;

/** Throws a PatternError that says what is not understood, or not offered. */
export function parsePattern(pattern: string): PatternNode {
  const reader = new Reader([...pattern]);
  const node = reader.choice(0);
  if (!reader.isAtEnd()) throw new PatternError("a ) has no ( before it");
  return node;
}

class Reader {
  readonly #points: readonly string[];
  #at = 0;

  constructor(points: readonly string[]) {
    this.#points = points;
  }

  isAtEnd(): boolean {
    return this.#at >= this.#points.length;
  }

  choice(depth: number): PatternNode {
    if (depth > DEEPEST) throw new PatternError("its groups are nested too deeply");
    const options = [this.#sequence(depth)];
    while (this.#takes("|")) options.push(this.#sequence(depth));
    return options.length === 1 ? options[0]! : { kind: "choice", options };
  }

  #sequence(depth: number): PatternNode {
    const parts: PatternNode[] = [];
    while (!this.isAtEnd() && this.#peek() !== "|" && this.#peek() !== ")")
      parts.push(this.#repeated(this.#atom(depth)));
    return parts.length === 1 ? parts[0]! : { kind: "sequence", parts };
  }

  #atom(depth: number): PatternNode {
    const point = this.#next();
    switch (point) {
      case "(":
        return this.#group(depth);
      case "[":
        return { kind: "set", set: this.#set() };
      case ".":
        return { kind: "set", set: ANY };
      case "^":
        return { kind: "assertion", assertion: "line-start" };
      case "$":
        return { kind: "assertion", assertion: "line-end" };
      case "\\":
        return this.#escape();
      case "*":
      case "+":
      case "?":
        throw new PatternError(`${point} stands where there is nothing to repeat`);
      default:
        return { kind: "set", set: only(point) };
    }
  }

  #group(depth: number): PatternNode {
    if (this.#takes("?") && !this.#takes(":"))
      throw new PatternError("of the groups that begin with (? only (?: is offered");
    const inner = this.choice(depth + 1);
    if (!this.#takes(")")) throw new PatternError("a ( is not closed");
    return inner;
  }

  #escape(): PatternNode {
    const point = this.#next();
    if (point === "b") return { kind: "assertion", assertion: "word-edge" };
    if (point === "B") return { kind: "assertion", assertion: "no-word-edge" };
    if (/[1-9k]/.test(point)) throw new PatternError("references to groups are not offered");
    return { kind: "set", set: CLASSES[point] ?? only(this.#escaped(point)) };
  }

  /** The character that stands behind a backslash, as itself. */
  #escaped(point: string): string {
    const control = CONTROLS[point];
    if (control !== undefined) return String.fromCodePoint(control);
    if (point === "x" || point === "u") return this.#coded(point === "x" ? 2 : 4);
    if (/[A-Za-z]/.test(point)) throw new PatternError(`\\${point} is not offered`);
    return point;
  }

  #coded(digits: number): string {
    const isBraced = digits === 4 && this.#takes("{");
    let code = "";
    while (isBraced ? this.#peek() !== "}" : code.length < digits) code += this.#next();
    if (isBraced) this.#next();
    if (!/^[0-9a-f]{1,6}$/i.test(code) || Number.parseInt(code, 16) > 0x10ffff)
      throw new PatternError("the code of a character is no hexadecimal number");
    return String.fromCodePoint(Number.parseInt(code, 16));
  }

  #set(): CharSet {
    const isNegated = this.#takes("^");
    const ranges: (readonly [number, number])[] = [];
    while (this.#peek() !== "]") {
      const from = this.#member(ranges);
      if (from === undefined || this.#peek() !== "-" || this.#points[this.#at + 1] === "]") {
        if (from !== undefined) ranges.push([from, from]);
        continue;
      }
      this.#next();
      const to = this.#member(ranges);
      if (to === undefined || to < from) throw new PatternError("a range in [ ] is out of order");
      ranges.push([from, to]);
    }
    this.#next();
    return { ranges, isNegated };
  }

  /** A single character; a class adds its own ranges and is none. */
  #member(ranges: (readonly [number, number])[]): number | undefined {
    const point = this.#next();
    if (point !== "\\") return point.codePointAt(0)!;
    const escaped = this.#next();
    if (escaped === "b") return 8;
    const named = CLASSES[escaped];
    if (named === undefined) return this.#escaped(escaped).codePointAt(0)!;
    ranges.push(...(named.isNegated ? complement(named.ranges) : named.ranges));
    return undefined;
  }

  #repeated(part: PatternNode): PatternNode {
    const bounds = this.#bounds();
    if (bounds === undefined) return part;
    // What a lazy one finds is found by a greedy one as well.
    this.#takes("?");
    if (this.#bounds() !== undefined) throw new PatternError("two repetitions follow each other");
    return { kind: "repeat", part, ...bounds };
  }

  #bounds(): { least: number; most: number } | undefined {
    if (this.#takes("*")) return { least: 0, most: Infinity };
    if (this.#takes("+")) return { least: 1, most: Infinity };
    if (this.#takes("?")) return { least: 0, most: 1 };
    const text = this.#points.slice(this.#at, this.#at + 12).join("");
    const [whole, least, comma, most] = /^\{(\d{1,4})(,)?(\d{1,4})?\}/.exec(text) ?? [];
    if (whole === undefined) return undefined;
    this.#at += whole.length;
    const bounds = {
      least: Number(least),
      most: most !== undefined ? Number(most) : comma ? Infinity : Number(least),
    };
    if (bounds.most < bounds.least || Math.max(bounds.least, Number(most ?? 0)) > MOST_REPEATS)
      throw new PatternError(`at most ${MOST_REPEATS} repetitions can be asked for`);
    return bounds;
  }

  #peek(): string {
    const point = this.#points[this.#at];
    if (point === undefined) throw new PatternError("it ends too early");
    return point;
  }

  #next(): string {
    const point = this.#peek();
    this.#at++;
    return point;
  }

  #takes(point: string): boolean {
    if (this.#points[this.#at] !== point) return false;
    this.#at++;
    return true;
  }
}

const only = (point: string): CharSet => {
  const code = point.codePointAt(0)!;
  return { ranges: [[code, code]], isNegated: false };
};

/** Of ranges in order that do not meet. */
function complement(ranges: CharSet["ranges"]): CharSet["ranges"] {
  const ends = [-1, ...ranges.flat(), 0x110000];
  return ends.flatMap((end, index) =>
    index % 2 === 0 && ends[index + 1]! - end > 1 ? [[end + 1, ends[index + 1]! - 1] as const] : [],
  );
}
