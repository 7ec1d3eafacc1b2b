// Follows an object of JSON byte by byte to where it ends or stops being JSON.

/** How far a scan came. */
export type ScanStep =
  /** `end` is behind the closing brace. */
  | { kind: "complete"; end: number }
  /** The byte at `at` can follow nothing before it. */
  | { kind: "stopped"; at: number }
  /** Everything so far may be the beginning of an object. */
  | { kind: "open" };

/** An object inside of the one that is scanned. */
export interface ClosedObject {
  start: number;
  end: number;
  /** How many objects and lists are around it, at least 1. */
  depth: number;
}

/** Deeper than anybody writes: what goes on like this is noise. */
const MAX_DEPTH = 10_000_000;

// What may come next.
const VALUE = 0;
const VALUE_OR_END = 1;
const KEY_OR_END = 2;
const KEY = 3;
const COLON_NEXT = 4;
const COMMA_OR_END = 5;
const TEXT = 6;
const ESCAPED = 7;
const WORD = 8;
const HEX = 9;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const CLOSE_LIST = 0x5d;
const OPEN = 0x7b;
const CLOSE = 0x7d;

export const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

// Digits, letters and signs of numbers, true, false and null.
const isWord = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) ||
  (byte >= 0x61 && byte <= 0x7a) ||
  byte === 0x2d ||
  byte === 0x2b ||
  byte === 0x2e ||
  byte === 0x45;

const WHOLE_WORD = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

const isHex = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) ||
  (byte >= 0x41 && byte <= 0x46) ||
  (byte >= 0x61 && byte <= 0x66);

const canBeEscaped = (byte: number): boolean => '"\\/bfnrtu'.includes(String.fromCharCode(byte));

/** One object, fed piece by piece. Each byte is looked at once. */
export class ObjectScan {
  #expect: number = VALUE;
  #isKey = false;
  /** What was read so far of a number, true, false or null. */
  #word = "";
  /** How many hexadecimal digits are still to come. */
  #hexLeft = 0;
  /** Where each open object or list began, in all that was fed. */
  #open: number[] = [];
  /** How much was fed before the piece that is being fed, and with it. */
  #fedBefore = 0;
  #fed = 0;
  #isObject: boolean[] = [];
  /** The object that ended last, while nothing but space came since. */
  closed: ClosedObject | undefined;
  /** The quote that ended a text, while nothing but space came since; else -1. */
  quoteAt = -1;
  /** How many texts ended. */
  texts = 0;
  /** The newest backslash of a text. */
  escapeAt = -1;

  /** True: what comes next is of a text. */
  get isInText(): boolean {
    return this.#expect === TEXT;
  }

  /** What `bytes` from `from` on make of it. */
  feed(bytes: Uint8Array, from = 0): ScanStep {
    this.#fedBefore = this.#fed;
    this.#fed += bytes.length;
    this.closed = undefined;
    this.quoteAt = -1;
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (this.#expect === TEXT) {
        // Most bytes of a session are inside texts.
        while (at < bytes.length && bytes[at]! >= 0x20 && !endsRun(bytes[at]!)) at++;
        if (at === bytes.length) break;
        const end = bytes[at]!;
        if (end < 0x20) return { kind: "stopped", at };
        if (end === BACKSLASH) {
          this.#expect = ESCAPED;
          this.escapeAt = at;
        } else {
          this.#expect = this.#isKey ? COLON_NEXT : COMMA_OR_END;
          this.quoteAt = at;
          this.texts++;
        }
        continue;
      }
      if (this.#expect === ESCAPED) {
        if (!canBeEscaped(byte)) return { kind: "stopped", at };
        this.#hexLeft = 4;
        this.#expect = byte === LETTER_U ? HEX : TEXT;
        continue;
      }
      if (this.#expect === HEX) {
        if (!isHex(byte)) return { kind: "stopped", at };
        if (--this.#hexLeft === 0) this.#expect = TEXT;
        continue;
      }
      if (this.#expect === WORD) {
        if (isWord(byte)) {
          this.#word += String.fromCharCode(byte);
          continue;
        }
        if (!WHOLE_WORD.test(this.#word)) return { kind: "stopped", at };
        this.#expect = COMMA_OR_END;
      }
      if (isSpace(byte)) continue;
      if (!this.#take(byte, at)) return { kind: "stopped", at };
      if (this.#open.length === 0) return { kind: "complete", end: at + 1 };
    }
    return { kind: "open" };
  }

  /** True: space ends what came last, a number for example. */
  get isInWord(): boolean {
    return this.#expect === WORD;
  }

  /** Where a scan is that stopped: in a text, behind a backslash of one, or not in one. */
  get stoppedIn(): "text" | "escape" | "structure" {
    if (this.#expect === TEXT) return "text";
    return this.#expect === ESCAPED || this.#expect === HEX ? "escape" : "structure";
  }

  /** What is missing of the object: its last brace, that in place of a comma, or more. */
  get lacks(): "brace" | "brace for comma" | "more" {
    if (this.#open.length !== 1) return "more";
    if (this.#expect === COMMA_OR_END) return "brace";
    return this.#expect === KEY ? "brace for comma" : "more";
  }

  /** Lets a scan that stopped in a text go on in it. */
  goOnInText(): void {
    this.#expect = TEXT;
  }

  /** Another scan that stands where this one does. */
  copy(): ObjectScan {
    const copy = new ObjectScan();
    copy.#expect = this.#expect;
    copy.#isKey = this.#isKey;
    copy.#word = this.#word;
    copy.#hexLeft = this.#hexLeft;
    copy.#fed = this.#fed;
    copy.texts = this.texts;
    copy.#open = this.#open.slice();
    copy.#isObject = this.#isObject.slice();
    return copy;
  }

  /** One byte between values; false when it may not stand there. */
  #take(byte: number, at: number): boolean {
    const expect = this.#expect;
    if (byte === CLOSE || byte === CLOSE_LIST) return this.#end(byte === CLOSE, at);
    const { closed, quoteAt } = this;
    this.closed = undefined;
    this.quoteAt = -1;
    if (expect === VALUE || expect === VALUE_OR_END) {
      if (byte === OPEN || byte === OPEN_LIST) return this.#begin(byte === OPEN, at);
      if (byte === QUOTE) return this.#text(false);
      this.#expect = WORD;
      this.#word = String.fromCharCode(byte);
      return isWord(byte);
    }
    if (byte === QUOTE && (expect === KEY || expect === KEY_OR_END)) return this.#text(true);
    if (byte === COLON && expect === COLON_NEXT) {
      this.#expect = VALUE;
      return true;
    }
    if (byte === COMMA && expect === COMMA_OR_END) {
      this.#expect = this.#isObject.at(-1) === true ? KEY : VALUE;
      return true;
    }
    // Who stopped here wants to know what stood before.
    this.closed = closed;
    this.quoteAt = quoteAt;
    return false;
  }

  #begin(isObject: boolean, at: number): boolean {
    this.#open.push(this.#fedBefore + at);
    this.#isObject.push(isObject);
    this.#expect = isObject ? KEY_OR_END : VALUE_OR_END;
    return this.#open.length <= MAX_DEPTH;
  }

  #text(isKey: boolean): boolean {
    this.#isKey = isKey;
    this.#expect = TEXT;
    return true;
  }

  #end(isObject: boolean, at: number): boolean {
    const mayEnd =
      this.#expect === COMMA_OR_END || this.#expect === (isObject ? KEY_OR_END : VALUE_OR_END);
    if (!mayEnd || this.#isObject.at(-1) !== isObject) return false;
    const start = this.#open.pop()! - this.#fedBefore;
    this.#isObject.pop();
    this.#expect = COMMA_OR_END;
    this.quoteAt = -1;
    this.closed =
      isObject && start >= 0 ? { start, end: at + 1, depth: this.#open.length } : undefined;
    return true;
  }
}

const endsRun = (byte: number): boolean => byte === QUOTE || byte === BACKSLASH;
