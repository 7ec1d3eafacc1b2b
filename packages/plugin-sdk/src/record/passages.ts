// Finds the passages of a text that name most in the least room.
import { ownText } from "../transcript/text.ts";
import type { Name } from "./names.ts";

/** A verbatim piece of something that was said or printed. */
export interface Passage {
  /** The entry it comes from. */
  readonly entryId: string;
  /** Byte for byte as it stands there. */
  readonly text: string;
  /** What it names. */
  readonly names: readonly string[];
}

/** About how long a passage is, in characters: long enough to be understood. */
export const PASSAGE_CHARS = 170;
/** A shorter piece of text says little more than the names in it. */
const LEAST_CHARS = 120;
const MAX_PER_TEXT = 8;
const MAX_PASSAGES = 1_500;
const LEAST_NAMES = 2;
const BOUNDARY = /\s/;
/** Within so many characters of where its word begins, a name stands: longer words are data. */
const LONGEST_WORD = 400;

/**
 * The densest passages of `text`, each naming at least two things that none before it names, at
 * most eight. Linear in the names.
 */
export function passagesIn(text: string, names: readonly Name[], entryId: string): Passage[] {
  if (text.length < LEAST_CHARS) return [];
  const places = names
    .flatMap(({ name, places }) => places.map((at) => ({ name, at: placeIn(text, name, at) })))
    .sort((a, b) => a.at - b.at);
  const taken = new Set<string>();
  const found: Passage[] = [];
  while (found.length < MAX_PER_TEXT) {
    const { from, to, count } = densest(places, taken);
    if (count < LEAST_NAMES) break;
    const start = places[from]!.at;
    const last = places[to]!;
    const piece = around(text, start, last.at + last.name.length);
    const within = [
      ...new Set(
        places
          .filter(({ at, name }) => at >= piece.start && at + name.length <= piece.end)
          .map(({ name }) => name),
      ),
    ];
    for (const { name } of places.slice(from, to + 1)) taken.add(name);
    for (const name of within) taken.add(name);
    if (piece.end - piece.start < LEAST_CHARS) continue;
    const quoted = ownText(text.slice(piece.start, piece.end));
    // What a passage names is not listed again: it has to stand there whole.
    found.push({ entryId, text: quoted, names: within.filter((name) => quoted.includes(name)) });
  }
  return found;
}

/** A name may stand further on in the word that begins at `at`: "suite/OneTest" names OneTest. */
function placeIn(text: string, name: string, at: number): number {
  if (text.startsWith(name, at)) return at;
  const found = text.slice(at, at + LONGEST_WORD + name.length).indexOf(name);
  return found < 0 ? at : at + found;
}

/**
 * `passages` without those that name least of what counts, where there are too many; `score` is how
 * much a name counts.
 */
export function withinBounds(
  passages: Map<string, Passage>,
  score: (name: string) => number,
): Map<string, Passage> {
  if (passages.size <= MAX_PASSAGES) return passages;
  const ranked = [...passages.values()]
    .map((passage) => ({ passage, worth: sum(passage.names.map((name) => score(name) ** 0.4)) }))
    .sort((a, b) => b.worth - a.worth)
    .slice(0, Math.floor(MAX_PASSAGES * 0.75));
  const kept = new Set(ranked.map(({ passage }) => passage));
  return new Map([...passages].filter(([, passage]) => kept.has(passage)));
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

interface Place {
  name: string;
  at: number;
}

/** The run of places within a passage's length that has most names not yet taken. */
function densest(places: readonly Place[], taken: ReadonlySet<string>) {
  const inside = new Map<string, number>();
  let best = { from: 0, to: -1, count: 0 };
  let from = 0;
  places.forEach(({ name, at }, to) => {
    if (!taken.has(name)) inside.set(name, (inside.get(name) ?? 0) + 1);
    while (at + name.length - places[from]!.at > PASSAGE_CHARS && from < to) {
      const gone = places[from++]!.name;
      const left = (inside.get(gone) ?? 0) - 1;
      if (left <= 0) inside.delete(gone);
      else inside.set(gone, left);
    }
    if (inside.size > best.count) best = { from, to, count: inside.size };
  });
  return best;
}

/** A passage's length around [start, end), from white space to white space. */
function around(text: string, start: number, end: number): { start: number; end: number } {
  const spare = Math.max(0, PASSAGE_CHARS - (end - start));
  const line = text.lastIndexOf("\n", start - 1) + 1;
  // From the beginning of the line where there is room for it.
  let from = start - line <= spare ? line : wordFrom(text, start - Math.floor(spare / 2), start);
  const to = wordTo(text, Math.min(text.length, from + PASSAGE_CHARS), end);
  if (to - from < PASSAGE_CHARS) from = wordFrom(text, Math.max(0, to - PASSAGE_CHARS), from);
  return { start: from, end: to };
}

function wordFrom(text: string, from: number, latest: number): number {
  let at = Math.max(0, from);
  if (at === 0) return 0;
  while (at < latest && !BOUNDARY.test(text[at - 1]!)) at++;
  return at;
}

function wordTo(text: string, to: number, earliest: number): number {
  let at = Math.max(to, earliest);
  if (at >= text.length) return text.length;
  while (at > earliest && !BOUNDARY.test(text[at]!)) at--;
  return at;
}
