// Which sentences a later one says anew, changes or takes back.
import type { Steps } from "../slices.ts";
import { type Force, isBinding, isQuestion, withoutCuesSteps } from "./cues.ts";

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
  /** Paths and other names that no prose has. */
  things: ReadonlySet<string>;
  /** The same for sentences that are the same but for their values. */
  pattern: string;
  isQuestion: boolean;
}

/** Fewer words are about anything. */
const LEAST_WORDS = 2;
/** A much longer sentence has the words of many short ones. */
const MOST_TIMES = 3;
const NAMED = /[^\s,;:]*\p{N}[^\s,;:]*/gu;
const NUMBER = /\p{N}+/gu;
const VALUE = /(?<![\p{L}\p{N}_/.#@-])\p{N}[\p{N}.,:]*(?![\p{L}\p{N}_/-])/gu;
const THING = /[\p{L}\p{N}./@~-]*[\p{L}\p{N}][/_][\p{L}\p{N}/_.@-]*[\p{L}\p{N}]/gu;
/** Of an earlier sentence's words, where a later one names all things that it names. */
const WORDS_BESIDE_THINGS = 0.5;
/** "Ann"; not at the beginning, where any word is written so. */
const SHORT_NAME = /(?<=[\p{L}\p{N},] )(?!I\b)\p{Lu}\p{L}{0,2}(?!\p{L})/gu;
const WORD = /[\p{L}\p{M}]{4,}/gu;
/** "delete", "deleted". Where nothing stands between words, whole. */
const STEM = 5;
const GAPLESS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** What later sentences are to earlier ones, by the earlier one; of several the newest. */
export interface Later<One> {
  /** Says the same but for its values, or all of what binds nobody: the earlier one is outdated. */
  readonly anew: ReadonlyMap<One, One>;
  /** Is about what the earlier one forbids or demands, and may change it: it stands beside it. */
  readonly beside: ReadonlyMap<One, One>;
}

/**
 * What is said anew, and what is about the same: it has all words of the earlier sentence, of a
 * rule half of them and all paths and identifiers, and names nothing else. What it says of that
 * nobody looks at, so that no language is needed, and so that no rule is outdated for it: a later
 * sentence may take a rule back, narrow it or only mention it. Questions change nothing. In steps;
 * linear, but for sentences that share their rarest word.
 */
export function* laterSteps<One extends Said>(said: readonly One[]): Steps<Later<One>> {
  const inOrder = said.toSorted((a, b) => a.at - b.at);
  const subjects = new Map<One, Subject>();
  const holders = new Map<string, One[]>();
  const newest = new Map<string, One>();
  for (const one of inOrder) {
    yield;
    const subject = yield* subjectSteps(one);
    subjects.set(one, subject);
    newest.set(subject.pattern, one);
    if (subject.isQuestion) continue;
    for (const word of [...subject.words, ...subject.things]) {
      const others = holders.get(word);
      if (others === undefined) holders.set(word, [one]);
      else others.push(one);
    }
  }
  const anew = new Map<One, One>();
  const beside = new Map<One, One>();
  for (const one of inOrder) {
    yield;
    const subject = subjects.get(one)!;
    const again = newest.get(subject.pattern)!;
    // Many numbers in one message are a list.
    if (again.at > one.at) anew.set(one, again);
    else {
      const about = yield* newestAboutSteps(one, { subjects, holders });
      if (about !== undefined) (binds(one) ? beside : anew).set(one, about);
    }
  }
  return { anew, beside };
}

const binds = ({ force }: Said) => force !== undefined && isBinding(force);

/** Sentences as they were read. */
interface Read<One> {
  subjects: ReadonlyMap<One, Subject>;
  /** By each word and thing who says it without asking, in order. */
  holders: ReadonlyMap<string, readonly One[]>;
}

function* newestAboutSteps<One extends Said>(
  one: One,
  { subjects, holders }: Read<One>,
): Steps<One | undefined> {
  const subject = subjects.get(one)!;
  if (subject.words.size < LEAST_WORDS) return undefined;
  const wanted = subject.things.size > 0 ? subject.things : subject.words;
  // To show one line more beside a rule costs less than to show a rule that holds no more.
  const share = subject.things.size > 0 && binds(one) ? WORDS_BESIDE_THINGS : 1;
  let rarest: readonly One[] | undefined;
  for (const word of wanted) {
    const others = holders.get(word) ?? [];
    if (rarest === undefined || others.length < rarest.length) rarest = others;
  }
  for (let index = rarest!.length - 1; index >= 0 && rarest![index]!.at > one.at; index--) {
    yield;
    if (isAbout(subjects.get(rarest![index]!)!, subject, share)) return rarest![index];
  }
  return undefined;
}

function isAbout(newer: Subject, older: Subject, share: number): boolean {
  if (newer.words.size > MOST_TIMES * older.words.size) return false;
  return (
    holdsAll(newer.things, older.things) &&
    holdsMost(newer.words, older.words, share) &&
    holdsAll(older.named, newer.named)
  );
}

function holdsMost(words: ReadonlySet<string>, wanted: ReadonlySet<string>, share: number) {
  let found = 0;
  for (const word of wanted) if (words.has(word)) found++;
  return found >= share * wanted.size;
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
    things: new Set(lower.match(THING)),
    pattern: patternOf(one.text, one),
    isQuestion: isQuestion(one.text),
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
