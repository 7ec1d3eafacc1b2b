// Which characters a program cannot tell apart.
import type { CharSet } from "./parse.ts";
import type { Instruction } from "./program.ts";

/** What an assertion asks of the characters beside it. */
export type Side = "edge" | "word" | "other";

/** Characters that every set and assertion of a program treats alike. */
export interface Letter {
  /** 0, 1, 2 … in the order in which they were met. */
  readonly index: number;
  readonly side: Side;
  takenBy(set: CharSet): boolean;
}

/** The characters of a program; letters match whatever their case. */
export class Alphabet {
  readonly #sets: readonly CharSet[];
  readonly #letters = new Map<string, Letter>();
  readonly #ascii: (Letter | undefined)[] = new Array(128).fill(undefined);
  readonly #others = new Map<number, Letter>();
  /** What stands before the first character of a text and behind its last. */
  readonly end: Letter;

  constructor(program: readonly Instruction[]) {
    this.#sets = [...new Set(program.flatMap((each) => (each.kind === "set" ? [each.set] : [])))];
    this.end = this.#letter("edge", new Set(), "end");
  }

  letterOf(code: number): Letter {
    const known = code < 128 ? this.#ascii[code] : this.#others.get(code);
    if (known !== undefined) return known;
    const takers = new Set(this.#sets.filter((set) => takes(set, code)));
    const side = code === 10 ? "edge" : isWord(code) ? "word" : "other";
    const letter = this.#letter(side, takers);
    if (code < 128) this.#ascii[code] = letter;
    else this.#others.set(code, letter);
    return letter;
  }

  #letter(side: Side, takers: ReadonlySet<CharSet>, kind = ""): Letter {
    const key = `${kind} ${side} ${this.#sets.map((set) => (takers.has(set) ? 1 : 0)).join("")}`;
    const known = this.#letters.get(key);
    if (known !== undefined) return known;
    const takenBy = (set: CharSet) => takers.has(set);
    const letter = { index: this.#letters.size, side, takenBy };
    this.#letters.set(key, letter);
    return letter;
  }
}

function takes({ ranges, isNegated }: CharSet, code: number): boolean {
  const other = otherCase(code);
  const isIn = ranges.some(
    ([from, to]) => (code >= from && code <= to) || (other >= from && other <= to),
  );
  return isIn !== isNegated;
}

function otherCase(code: number): number {
  if (code >= 65 && code <= 90) return code + 32;
  if (code >= 97 && code <= 122) return code - 32;
  if (code < 128) return code;
  const point = String.fromCodePoint(code);
  const [lower, upper] = [point.toLowerCase(), point.toUpperCase()];
  const other = lower === point ? upper : lower;
  // Some letters become two in the other case: those have none here.
  return other.length > (code > 0xffff ? 2 : 1) ? code : other.codePointAt(0)!;
}

const isWord = (code: number) => code < 128 && /^\w$/.test(String.fromCharCode(code));
