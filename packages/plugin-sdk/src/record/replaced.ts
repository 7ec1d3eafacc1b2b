// Which sentences a later one says anew, changes or takes back.
import type { Steps } from "../slices.ts";
import { type Force, withoutCuesSteps } from "./cues.ts";

/** A sentence that was said, and when. */
interface Said {
  readonly text: string;
  /** Rises with time; the same for what one message says. */
  readonly at: number;
  /** How binding it is. Absent: it binds nobody. */
  readonly force?: Force;
}

/** What a sentence is about. */
interface Subject {
  /** Beginnings of its words, without those that bind. */
  words: ReadonlySet<string>;
  /** Names with digits in them, as `patternOf` reads them, and short ones. */
  named: ReadonlySet<string>;
}

/** Fewer words are about anything. */
const LEAST_WORDS = 2;
/** A much longer sentence has the words of many short ones. */
const MOST_TIMES = 3;
const NAMED = /[^\s,;:]*\p{N}[^\s,;:]*/gu;
const NUMBER = /\p{N}+/gu;
const VALUE = /(?<![\p{L}\p{N}_/.#@-])\p{N}[\p{N}.,:]*(?![\p{L}\p{N}_/-])/gu;
/** "Ann"; not at the beginning, where any word is written so. */
const SHORT_NAME = /(?<=[\p{L}\p{N},] )(?!I\b)\p{Lu}\p{L}{0,2}(?!\p{L})/gu;
const WORD = /[\p{L}\p{M}]{4,}/gu;
/** "delete", "deleted". Where nothing stands between words, whole. */
const STEM = 5;
const GAPLESS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/**
 * By a sentence the newest one after it that is the same but for its values, or about the same: it
 * has all of its words, and names nothing else. What it says of that nobody looks at, so that no
 * language is needed. In steps; linear, but for sentences that share their rarest word.
 */
export function* replacementSteps<One extends Said>(
  said: readonly One[],
): Steps<ReadonlyMap<One, One>> {
  const inOrder = said.toSorted((a, b) => a.at - b.at);
  const subjects = new Map<One, Subject>();
  const holders = new Map<string, One[]>();
  for (const one of inOrder) {
    yield;
    const subject = yield* subjectSteps(one);
    subjects.set(one, subject);
    for (const word of subject.words) {
      const others = holders.get(word);
      if (others === undefined) holders.set(word, [one]);
      else others.push(one);
    }
  }
  const replaced = new Map<One, One>();
  const newest = new Map(inOrder.map((one) => [patternOf(one.text, one), one]));
  for (const one of inOrder) {
    yield;
    const again = newest.get(patternOf(one.text, one))!;
    // Many numbers in one message are a list.
    if (again.at > one.at) replaced.set(one, again);
    const subject = subjects.get(one)!;
    if (replaced.has(one) || subject.words.size < LEAST_WORDS) continue;
    const [rarest] = [...subject.words].sort(
      (a, b) => holders.get(a)!.length - holders.get(b)!.length,
    );
    const others = holders.get(rarest!)!;
    // They stand in order.
    for (let index = others.length - 1; others[index]!.at > one.at; index--)
      if (isAbout(subjects.get(others[index]!)!, subject)) {
        replaced.set(one, others[index]!);
        break;
      }
  }
  return replaced;
}

function isAbout(newer: Subject, older: Subject): boolean {
  if (newer.words.size > MOST_TIMES * older.words.size) return false;
  return holdsAll(newer.words, older.words) && holdsAll(older.named, newer.named);
}

function holdsAll(words: ReadonlySet<string>, wanted: ReadonlySet<string>): boolean {
  for (const word of wanted) if (!words.has(word)) return false;
  return true;
}

const known = new WeakMap<Said, Subject>();

function* subjectSteps(one: Said): Steps<Subject> {
  const subject = known.get(one) ?? (yield* readSteps(one));
  known.set(one, subject);
  return subject;
}

function* readSteps(one: Said): Steps<Subject> {
  const read = yield* withoutCuesSteps(one.text);
  const lower = read.toLowerCase();
  const words = lower.replace(NAMED, " ").match(WORD) ?? [];
  return {
    words: new Set(words.map((word) => (GAPLESS.test(word) ? word : word.slice(0, STEM)))),
    named: new Set([
      ...(lower.match(NAMED)?.map((name) => patternOf(name, one)) ?? []),
      ...(read.match(SHORT_NAME) ?? []),
    ]),
  };
}

/**
 * What says the same but for values that a later sentence may change. What holds for good says what
 * it says; of a demand a number within a name is none: "module2.py".
 */
function patternOf(text: string, { force }: Said): string {
  if (force === "standing") return text.toLowerCase();
  return text.toLowerCase().replace(force === "rule" ? VALUE : NUMBER, "0");
}
