// Makes up a long dialogue of two people, and questions that its turns answer.
import { type Chance, createChance } from "../replay/generate/chance.ts";
import type { Exchange, Topic, TopicSet } from "./topics.ts";

export const KINDS = ["single-hop", "multi-hop", "temporal", "open"] as const;
export type QuestionKind = (typeof KINDS)[number];

/** Something that one of the two says. */
export interface Turn {
  speaker: string;
  text: string;
  /** ms since the epoch. */
  timestamp: number;
}

export interface Question {
  kind: QuestionKind;
  text: string;
  /** Places of the turns that answer it. */
  evidence: readonly number[];
}

export interface Dialogue {
  turns: readonly Turn[];
  questions: readonly Question[];
}

const [YEAR, HOUR, MINUTE_MS] = [2026, 18, 60_000];
const MONTHS = "January February March April May June July August September October".split(" ");
const TALKS_PER_MONTH = 4;
const TALKS = MONTHS.length * TALKS_PER_MONTH;
const TALK_TURNS = 30;
/** Of what is said idly, talk of the topics. */
const CHAFF_SHARE = 0.12;
/** Times that a thing happens which happens more than once. */
const TIMES = 3;

/** A talk in the making: pieces in any order, each a few lines that stay together. */
interface Piece {
  lines: readonly { by: 0 | 1; text: string; of: object | null }[];
}

/** The same seed and topics give the same dialogue. About 1,200 turns. */
export function makeDialogue(seed: number, set: TopicSet): Dialogue {
  const chance = createChance(seed);
  const speakers = shuffled(chance, set.speakers).slice(0, 2);
  const talks: Piece[][] = Array.from({ length: TALKS }, () => []);
  const asked: { kind: QuestionKind; text: string; of: readonly object[] }[] = [];
  const place = (exchange: Exchange, who: 0 | 1, talk: number, slots: Record<string, string>) => {
    const of = {};
    const lines = exchange.map((line) => {
      const [, mark, by, text = ""] = /^(!?)([SO]): (.*)$/.exec(line)!;
      const speaker = (by === "S" ? who : 1 - who) as 0 | 1;
      return { by: speaker, text: fill(text, slots), of: mark === "" ? null : of };
    });
    talks[talk]!.push({ lines });
    return of;
  };
  for (const who of [0, 1] as const) {
    const S = speakers[who]!;
    for (const topic of set.topics) tellTopic(topic);
    for (const [at, { rel, names }] of set.relatives.entries()) {
      const N = chance.pick(names);
      const slots = { S, N, rel };
      const from = chance.below(TALKS / 2);
      const first = place(chance.pick(set.introduce), who, from, slots);
      const bridge = set.bridges[(at + who) % set.bridges.length]!;
      const x = chance.pick(bridge.values);
      const later = from + 1 + chance.below(TALKS - from - 1);
      const told = place(chance.pick(bridge.tell), who, later, { ...slots, x });
      asked.push({
        kind: "multi-hop",
        text: fill(chance.pick(bridge.ask), slots),
        of: [first, told],
      });
    }
    for (const open of set.open.slice(0, 3 + who)) {
      const of = place(chance.pick(open.tell), who, chance.below(TALKS), { S });
      asked.push({ kind: "open", text: fill(chance.pick(open.ask), { S }), of: [of] });
    }

    function tellTopic(topic: Topic) {
      const times = topic.all === undefined ? 1 : TIMES;
      const values = shuffled(chance, topic.values).slice(0, times);
      const months = shuffled(
        chance,
        MONTHS.map((_, at) => at),
      ).slice(0, times);
      const told = values.map((x, at) => {
        const talk = months[at]! * TALKS_PER_MONTH + chance.below(TALKS_PER_MONTH);
        return place(chance.pick(topic.tell), who, talk, { S, x });
      });
      const slots = { S, x: values[0]!, month: MONTHS[months[0]!]! };
      const ask = (kind: QuestionKind, forms: readonly string[] | undefined, of: object[]) => {
        if (forms !== undefined) asked.push({ kind, text: fill(chance.pick(forms), slots), of });
      };
      if (times === 1) ask("single-hop", topic.ask, told);
      ask("temporal", topic.when, told);
      ask("multi-hop", topic.all, told);
      ask("temporal", topic.inMonth, told.slice(0, 1));
    }
  }
  const { turns, places } = talkAll(chance, { talks, set, speakers });
  const questions = asked.map(({ kind, text, of }) => ({
    kind,
    text,
    evidence: of.map((one) => places.get(one)!),
  }));
  return { turns, questions };
}

/** With small talk, and talk of the topics that tells nothing, until each talk is long enough. */
function talkAll(
  chance: Chance,
  {
    talks,
    set,
    speakers,
  }: { talks: readonly Piece[][]; set: TopicSet; speakers: readonly string[] },
) {
  const turns: Turn[] = [];
  const places = new Map<object, number>();
  const chaff = set.topics.flatMap((topic) => topic.chaff);
  for (const [talk, told] of talks.entries()) {
    const pieces = [...told];
    let length = told.reduce((sum, { lines }) => sum + lines.length, 0);
    while (length < TALK_TURNS) {
      const lines = Array.from({ length: 1 + chance.below(3) }, () => ({
        by: chance.below(2) as 0 | 1,
        text: idle(),
        of: null,
      }));
      pieces.push({ lines });
      length += lines.length;
    }
    const month = Math.floor(talk / TALKS_PER_MONTH);
    const day = 2 + (talk % TALKS_PER_MONTH) * 7;
    const from = Date.UTC(YEAR, month, day, HOUR);
    const lines = shuffled(chance, pieces).flatMap((piece) => piece.lines);
    for (const [minute, { by, text, of }] of lines.entries()) {
      if (of !== null) places.set(of, turns.length);
      turns.push({ speaker: speakers[by]!, text, timestamp: from + minute * MINUTE_MS });
    }
  }
  return { turns, places };

  function idle(): string {
    const first = chance.next() < CHAFF_SHARE ? chance.pick(chaff) : chance.pick(set.smallTalk);
    return chance.next() < 0.4 ? `${first} ${chance.pick(set.smallTalk)}` : first;
  }
}

/** A sentence begins with a capital, whatever stands there. */
const fill = (text: string, slots: Readonly<Record<string, string>>) =>
  text
    .replace(/\{(\w+)\}/g, (_, name: string) => slots[name] ?? "")
    .replace(
      /(^|[.!?] )(\p{Ll})/gu,
      (_, before: string, letter: string) => before + letter.toUpperCase(),
    );

function shuffled<Value>(chance: Chance, values: readonly Value[]): Value[] {
  return values
    .map((value) => ({ value, order: chance.next() }))
    .sort((a, b) => a.order - b.order)
    .map(({ value }) => value);
}
