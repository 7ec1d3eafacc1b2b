// Tells of each day as much as there is room for, in lines that stretches may share.
import { estimateText } from "@clew/plugin-sdk/tokens";
import type { DayFacts } from "../store/summary-rows.ts";
import { clipped, daysText, pathText, type Stretch, spanText, summaryName } from "./lines.ts";

/** Neighbours that share a line, oldest first. */
export type Group = readonly Stretch[];

/** How lines are made. */
export interface LineStyle {
  /** Estimated, of all lines together. */
  readonly tokens: number;
  /** That a line tells apart. */
  readonly mostDays: number;
  /** True: where a line tells of days by their dates, its head says how many they are. */
  readonly isShort: boolean;
  /** Estimates that are known already, by their texts; more are added. */
  readonly costs: Map<string, number>;
}

/** Lines with what they have room for. */
export interface Filled {
  readonly text: string;
  /** Days that have something to tell. */
  readonly days: number;
  /** Those of which something is told. */
  readonly daysTold: number;
  /** Of that, how many things: files, and requests of days that have none. */
  readonly told: number;
  /** True: that is all of it. */
  readonly isFull: boolean;
}

const FILES_OF_DAY = 4;
const ASKED_WITHOUT_FILES = 4;

const FIRST_CHARS = 40;

/** From the least to the most that a line tells of a day beyond that. */
const MORE = [
  { asked: 1, files: 1, answered: 0, chars: 60 },
  { asked: 2, files: 2, answered: 0, chars: 70 },
  { asked: 4, files: 3, answered: 0, chars: 80 },
  { asked: 5, files: 5, answered: 1, chars: 110 },
  { asked: 5, files: 8, answered: 2, chars: 160 },
] as const;

/** Of a model's words. */
const CHARS_OF_WORDS = 3;

/** Estimates of parts are not quite that of the whole. */
const SHRINKING = 0.94;
const LEAST_SHARE = 0.6;

/**
 * Pure: one line for each group. Each quotes a request; then each day is told of, the same of all;
 * what is left goes to more of everything. Null: not even the lines have room.
 */
export function filledLines(groups: readonly Group[], style: LineStyle): Filled | null {
  for (let share = 1; share > LEAST_SHARE; share *= SHRINKING) {
    const filled = fill(
      groups.map((group) => lineOfGroup(group, style)),
      { left: share * style.tokens, costs: style.costs },
    );
    if (filled === null) return null;
    if (estimateText(filled.text).estimate <= style.tokens) return filled;
  }
  return null;
}

type Kind = "asked" | "files" | "answered";

/** What lines tell of one day, so far. */
type Told = Readonly<Record<Kind, Set<string>>>;

/** What one day of a stretch has to tell. */
interface Items extends Readonly<Record<Kind, readonly string[]>> {
  readonly key: string;
  readonly requests: number;
}

/** What a line tells of a day, or of days that follow one another. */
interface Spot extends Told {
  /** Empty: the line is of these days alone. */
  readonly label: string;
  readonly items: readonly Items[];
  /** Of quotations. */
  chars: number;
}

interface Line {
  readonly head: string;
  /** What models say of it. */
  readonly words: readonly string[];
  readonly spots: readonly Spot[];
  /** Of a model's words; 0 = none are shown. */
  wordChars: number;
}

interface Room {
  left: number;
  readonly costs: Map<string, number>;
}

/** Null: the lines alone take more. */
function fill(lines: readonly Line[], room: Room): Filled | null {
  room.left -= estimateText(lines.map(lineText).join("\n")).estimate;
  if (room.left < 0) return null;
  const spots = lines.flatMap((line) => line.spots);
  for (const line of lines) line.spots.some((spot) => addTo(spot, "asked", 1, room));
  const days = daysOf(spots);
  const steps = BELONGING.flatMap((what) =>
    days.map((day) => {
      const [ofDay, most] = what(day);
      return addToDay(ofDay, most, room);
    }),
  );
  const told = days.map(({ asked, files }) => [asked.told.size, files.told.size] as const);
  for (const more of MORE) {
    for (const line of lines) widenWords(line, more.chars, room);
    for (const spot of spots) addTo(spot, "asked", more.asked, room);
    for (const spot of spots) widen(spot, more.chars, room);
    for (const spot of spots) addTo(spot, "files", more.files, room);
    for (const spot of spots) addTo(spot, "answered", more.answered, room);
  }
  return {
    text: lines.map(lineText).join("\n"),
    days: days.length,
    daysTold: told.filter(([asked, files]) => asked + files > 0).length,
    told: told.reduce((sum, [asked, files]) => sum + (files > 0 ? files : asked), 0),
    isFull: steps.every((isDone) => isDone),
  };
}

/** What all lines together could tell of a day, and do. */
interface OfDay {
  readonly kind: "asked" | "files";
  /** What each line has first stands before what it has next. */
  readonly all: readonly { readonly spot: Spot; readonly text: string }[];
  readonly told: Set<string>;
}
type Day = Readonly<Record<"asked" | "files", OfDay>>;

/** What belongs to every day, and how much of it, in this order. */
const BELONGING: readonly ((day: Day) => readonly [OfDay, number])[] = [
  ({ asked, files }) => [files.all.length > 0 ? files : asked, 1],
  ({ files }) => [files, FILES_OF_DAY / 2],
  ({ files }) => [files, FILES_OF_DAY],
  ({ asked, files }) => [asked, files.all.length > 0 ? 1 : ASKED_WITHOUT_FILES],
];

function daysOf(spots: readonly Spot[]): Day[] {
  const parts = spots.flatMap((spot) => spot.items.map((items) => ({ spot, items })));
  const days = Map.groupBy(parts, ({ items }) => items.key);
  const of = (day: typeof parts, kind: OfDay["kind"]): OfDay => {
    const turns = Math.max(...day.map(({ items }) => items[kind].length));
    const all = Array.from({ length: turns }, (_, turn) =>
      day.flatMap(({ spot, items }) => {
        const text = items[kind][turn];
        return text === undefined ? [] : [{ spot, text }];
      }),
    ).flat();
    const shown = all.filter(({ spot, text }) => spot[kind].has(text)).map(({ text }) => text);
    return { kind, all, told: new Set(shown) };
  };
  return [...days.values()]
    .map((day) => ({ asked: of(day, "asked"), files: of(day, "files") }))
    .filter(({ asked, files }) => asked.all.length + files.all.length > 0);
}

/** True: so many different ones are told of the day, or all that there are. */
function addToDay({ kind, all, told }: OfDay, most: number, room: Room): boolean {
  for (const { spot, text } of all) {
    if (told.size >= most) return true;
    if (told.has(text)) continue;
    if (!add(spot, kind, text, room)) return false;
    told.add(text);
  }
  return true;
}

/** True: it tells so many of them, or all that there are; false where that is none, too. */
function addTo(spot: Spot, kind: Kind, most: number, room: Room): boolean {
  for (const items of spot.items)
    for (const text of items[kind]) {
      if (spot[kind].size >= most) return true;
      if (!spot[kind].has(text) && !add(spot, kind, text, room)) return false;
    }
  return spot[kind].size > 0;
}

function add(spot: Spot, kind: Kind, text: string, room: Room): boolean {
  const isFirst = spot.asked.size + spot.files.size + spot.answered.size === 0;
  const before = [
    ...(isFirst ? [` | ${spot.label}`] : []),
    ...(spot[kind].size > 0 ? [] : [kind === "asked" ? "; asked (+99)" : `; ${kind}`]),
  ];
  const cost = costOf([...before, kind === "files" ? text : quoted(text, spot.chars)], room);
  return take(cost, room, () => spot[kind].add(text));
}

/** Its quotations have so many characters, if there is room. */
function widen(spot: Spot, chars: number, room: Room): void {
  const texts = [...spot.asked, ...spot.answered].filter(({ length }) => length > spot.chars);
  const costAt = (size: number) =>
    costOf(
      texts.map((text) => quoted(text, size)),
      room,
    );
  take(costAt(chars) - costAt(spot.chars), room, () => {
    spot.chars = chars;
  });
}

function widenWords(line: Line, chars: number, room: Room): void {
  const size = Math.floor((CHARS_OF_WORDS * chars) / Math.max(1, line.words.length));
  const cost = costOf(wordsOf(line, size), room) - costOf(wordsOf(line, line.wordChars), room);
  take(cost, room, () => {
    line.wordChars = size;
  });
}

function take(cost: number, room: Room, act: () => void): boolean {
  if (cost > room.left) return false;
  room.left -= cost;
  act();
  return true;
}

function costOf(texts: readonly string[], { costs }: Room): number {
  let sum = 0;
  for (const text of texts) {
    const cost = costs.get(text) ?? estimateText(` ${text}`).estimate;
    costs.set(text, cost);
    sum += cost;
  }
  return sum;
}

const quoted = (text: string, chars: number) => `"${clipped(text, chars)}"`;

function lineOfGroup(group: Group, { mostDays, isShort }: LineStyle): Line {
  const [{ first }, { last }] = [group[0]!, group.at(-1)!];
  const times = group.flatMap(({ facts: { since, until } }) => [since ?? [], until ?? []].flat());
  const messages = group.reduce((sum, { facts }) => sum + facts.messages, 0);
  const ids = group.flatMap(({ id }) => (id === null ? [] : [summaryName(id)]));
  const isAlone = group.length === 1;
  const spots = spotsOf(group, mostDays);
  const isDated = isShort && spots.length > 1 && spots.every(({ label }) => label !== "");
  const head = [
    ...(isAlone ? ids : []),
    first === last ? `#${first}` : `#${first}-#${last}`,
    ...(times.length === 0 ? [] : [isDated ? daysLong(times) : spanText(...endsOf(times))]),
    ...(messages === last - first + 1 ? [] : [`${messages} messages`]),
    ...(isAlone || ids.length === 0 ? [] : [`in ${ids.join(" ")}`]),
  ].join(" ");
  return { head, words: group.flatMap(({ words }) => words ?? []), spots, wordChars: 0 };
}

const endsOf = (times: readonly number[]) => [Math.min(...times), Math.max(...times)] as const;

function daysLong(times: readonly number[]): string {
  const [first, last] = endsOf(times).map((time) => Math.floor(time / DAY_MS));
  return `over ${last! - first! + 1} days`;
}

const DAY_MS = 86_400_000;

/** The days of a line; of too many, neighbours with the fewest messages are told as one. */
function spotsOf(group: Group, mostDays: number): Spot[] {
  const days: { days: DayFacts[]; items: Items[]; messages: number }[] = [];
  for (const { first, facts } of group)
    for (const day of facts.days) {
      const last = days.at(-1)?.days[0];
      const isSame = last !== undefined && last.from === day.from && last.to === day.to;
      if (!isSame) days.push({ days: [], items: [], messages: 0 });
      const one = days.at(-1)!;
      one.days.push(day);
      one.items.push(itemsOf(day, `${day.from ?? `#${first}`} ${day.to}`));
      one.messages += day.messages;
    }
  const apart = withFewer(days, mostDays, (one, other) => ({
    days: [...one.days, ...other.days],
    items: [...one.items, ...other.items],
    messages: one.messages + other.messages,
  }));
  return apart.map(({ days: of, items }) => {
    const known = of.flatMap(({ from, to }) => [from ?? [], to ?? []].flat()).sort();
    const label =
      apart.length === 1 || known.length === 0
        ? ""
        : `${daysText({ from: known[0]!, to: known.at(-1)! })} `;
    const told = {
      asked: new Set<string>(),
      files: new Set<string>(),
      answered: new Set<string>(),
    };
    return { label, items, chars: FIRST_CHARS, ...told };
  });
}

const itemsOf = ({ requests, asked, files, answered }: DayFacts, key: string): Items => ({
  ...{ key, requests },
  asked: asked.map(({ text }) => text),
  files: files.map(([path]) => pathText(path, SHORT_PATHS)),
  answered: answered.map(({ text }) => text),
});

const SHORT_PATHS = { asked: 0, files: 1, answered: 0, chars: 0 };

/** Pure: at most so many, by joining the neighbours that have fewest messages together. */
export function withFewer<Of extends { readonly messages: number }>(
  all: readonly Of[],
  most: number,
  join: (one: Of, other: Of) => Of,
): Of[] {
  const left = [...all];
  while (left.length > Math.max(1, most)) {
    const sizes = left.slice(1).map(({ messages }, at) => messages + left[at]!.messages);
    const at = sizes.indexOf(Math.min(...sizes));
    left.splice(at, 2, join(left[at]!, left[at + 1]!));
  }
  return left;
}

function lineText(line: Line): string {
  const told = line.spots.map(spotText).filter((text) => text !== "");
  const parts = [...wordsOf(line, line.wordChars), ...(told.length > 0 ? [told.join(" | ")] : [])];
  return `- ${line.head}${parts.length === 0 ? "" : `: ${parts.join(" ")}`}`;
}

const wordsOf = ({ words }: Line, chars: number) =>
  chars === 0 ? [] : words.map((said) => `a model notes ${quoted(said, chars)}`);

function spotText({ label, items, chars, asked, files, answered }: Spot): string {
  const quotes = (all: readonly string[], told: ReadonlySet<string>) =>
    [...new Set(all.filter((text) => told.has(text)))].map((text) => quoted(text, chars)).join(" ");
  const requests = items.reduce((sum, one) => sum + one.requests, 0);
  const more = requests > asked.size ? ` (+${requests - asked.size})` : "";
  const said = [
    asked.size > 0 &&
      `asked ${quotes(
        items.flatMap((one) => one.asked),
        asked,
      )}${more}`,
    files.size > 0 && `files ${[...files].join(" ")}`,
    answered.size > 0 &&
      `answered ${quotes(
        items.flatMap((one) => one.answered),
        answered,
      )}`,
  ].filter((part) => part !== false);
  return said.length === 0 ? "" : `${label}${said.join("; ")}`;
}
