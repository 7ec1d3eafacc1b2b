// Plans which facts a long conversation tells when, and what is asked about them.
import { type Chance, createChance } from "../replay/generate/chance.ts";

/** How a question relates to what was told. */
export const KINDS = [
  "exact",
  "paraphrased",
  "changed later",
  "retracted",
  "two hops",
  "by time",
] as const;
export type FactKind = (typeof KINDS)[number];

/** Something a person says. */
export interface Said {
  text: string;
  /** ms since the epoch. */
  timestamp: number;
}

export interface FactQuestion {
  kind: FactKind;
  text: string;
  /** Words that a right answer holds. */
  expected: string;
  /** Words that only a wrong answer holds. */
  wrong: readonly string[];
}

export interface FactPlan {
  /** In order. */
  turns: readonly Said[];
  questions: readonly FactQuestion[];
  /** Said on a branch that is left again. Absent: there is none. */
  detour?: Detour;
}

/** A branch of a session that tells facts otherwise, and is left. */
export interface Detour {
  /** How many turns were said before it. */
  after: number;
  turns: readonly Said[];
}

export interface FactPlanRequest {
  seed: number;
  turns: number;
  facts: number;
}

const DAY_MS = 86_400_000;
const START = Date.UTC(2026, 0, 5, 9);
const TURNS_PER_DAY = 25;

const FIRST =
  "Amara Bruno Chiara Dmitri Elif Farid Greta Hana Ivo Jelena Kofi Lucia Mateo Nadia Oskar Paula".split(
    " ",
  );
const LAST =
  "Okafor Lindqvist Moreau Petrov Yilmaz Haddad Novak Sato Costa Weber Quist Rahman Silva Tamm".split(
    " ",
  );
const THINGS = "locker badge extension desk invoice parking-space gate-code voucher".split(" ");
/** What a paraphrase calls them, and what it is asked by. */
const OTHER_WORDS: Readonly<Record<string, string>> = {
  locker: "cupboard",
  badge: "pass",
  extension: "phone line",
  desk: "seat",
  invoice: "bill",
  "parking-space": "place for the car",
  "gate-code": "entry digits",
  voucher: "coupon",
};
const PROJECTS =
  "Kestrel Merlin Osprey Harrier Falcon Condor Heron Plover Curlew Avocet Dunlin Godwit".split(" ");

/** The same seed gives the same plan. Every fact has words no other fact has. */
export function planFacts({ seed, turns, facts }: FactPlanRequest): FactPlan {
  const chance = createChance(seed);
  const people = shuffled(
    chance,
    FIRST.flatMap((first) => LAST.map((last) => `${first} ${last}`)),
  );
  const said = new Map<number, string>();
  const questions: FactQuestion[] = [];
  const telling: Telling = {
    chance,
    tell(text, from = 0, to = turns) {
      let at = from + chance.below(to - from);
      while (said.has(at)) at = (at + 1) % turns;
      said.set(at, text);
      return at;
    },
  };
  for (let at = 0; at < facts; at++) {
    const kind = KINDS[at % KINDS.length]!;
    const person = people[at % people.length]!;
    questions.push({ kind, ...MAKERS[kind](telling, person, { at, turns }) });
  }
  return {
    turns: Array.from({ length: turns }, (_, at) => ({
      text: said.get(at) ?? chatter(chance, people),
      timestamp: timeOf(at),
    })),
    questions,
  };
}

/** When the detour is taken, as a share of the turns. */
const DETOUR_AT = 0.8;

/**
 * The same plan with a branch that tells other numbers of what was told before it; a right answer
 * has none of them. Pure.
 */
export function withDetour(plan: FactPlan, seed: number): FactPlan {
  const chance = createChance(seed);
  const after = Math.floor(DETOUR_AT * plan.turns.length);
  const turns: Said[] = [];
  const questions = plan.questions.map((question) => {
    const told = plan.turns
      .slice(0, after)
      .findLast(({ text }) => text.includes(question.expected));
    if (told === undefined || question.kind === "retracted") return question;
    const other = code(chance);
    turns.push({ ...told, text: told.text.replace(question.expected, other) });
    return { ...question, wrong: [...question.wrong, other] };
  });
  return { ...plan, questions, detour: { after, turns } };
}

const timeOf = (turn: number) => START + Math.floor(turn / TURNS_PER_DAY) * DAY_MS + turn * 1000;

interface Telling {
  chance: Chance;
  /** Says it at a free turn of the range, or the next free one; tells which. */
  tell(text: string, from?: number, to?: number): number;
}

type Made = Omit<FactQuestion, "kind">;
type Maker = (telling: Telling, person: string, place: { at: number; turns: number }) => Made;

const MAKERS: Record<FactKind, Maker> = {
  exact({ chance, tell }, person) {
    const [thing, value] = [chance.pick(THINGS), code(chance)];
    tell(`The ${thing} of ${person} has the number ${value}.`);
    const text = `What number does the ${thing} of ${person} have?`;
    return { text, expected: value, wrong: [] };
  },
  paraphrased({ chance, tell }, person) {
    const [thing, value] = [chance.pick(THINGS), code(chance)];
    tell(`${person} was given ${thing} ${value} by the front office.`);
    const text = `Which ${OTHER_WORDS[thing]} did reception hand to ${person}?`;
    return { text, expected: value, wrong: [] };
  },
  "changed later"({ chance, tell }, person, { turns }) {
    const [thing, old, value] = [chance.pick(THINGS), code(chance), code(chance)];
    const first = tell(
      `The ${thing} of ${person} has the number ${old}.`,
      0,
      Math.floor(turns * 0.8),
    );
    tellAfter(tell, first, turns, `The ${thing} of ${person} has the number ${value} from now on.`);
    const text = `What number does the ${thing} of ${person} have?`;
    return { text, expected: value, wrong: [old] };
  },
  retracted({ chance, tell }, person, { turns }) {
    const [thing, old] = [chance.pick(THINGS), code(chance)];
    const first = tell(
      `The ${thing} of ${person} has the number ${old}.`,
      0,
      Math.floor(turns * 0.8),
    );
    tellAfter(
      tell,
      first,
      turns,
      `Forget the number of the ${thing} of ${person}: it was withdrawn.`,
    );
    const text = `What number does the ${thing} of ${person} have?`;
    return { text, expected: "withdrawn", wrong: [old] };
  },
  "two hops"({ chance, tell }, person, { at }) {
    const [name, value] = [`${PROJECTS[at % PROJECTS.length]}-${at}`, code(chance)];
    tell(`${person} looks after the service ${name}.`);
    tell(`The service ${name} answers on port ${value}.`);
    const text = `Which port does the service that ${person} looks after answer on?`;
    return { text, expected: value, wrong: [] };
  },
  "by time"({ chance, tell }, person, { turns }) {
    const values = [code(chance), code(chance), code(chance)];
    const third = Math.floor(turns / 3);
    const days = values.map((value, part) => {
      const turn = tell(
        `The word of the day for the team of ${person} is ${value}.`,
        part * third,
        part * third + third - 2 * TURNS_PER_DAY,
      );
      return new Date(timeOf(turn)).toISOString().slice(0, 10);
    });
    const asked = chance.below(values.length);
    const text = `What was the word of the day for the team of ${person} on ${days[asked]}?`;
    return { text, expected: values[asked]!, wrong: values.filter((_, at) => at !== asked) };
  },
};

/** Somewhere after the turn `first`; the search for a free turn never goes round. */
function tellAfter(tell: Telling["tell"], first: number, turns: number, text: string): void {
  tell(text, first + 1, Math.max(first + 2, Math.floor(turns * 0.9)));
}

const code = (chance: Chance) =>
  `${chance.pick(PROJECTS).toLowerCase()}-${1000 + chance.below(9000)}`;

/** Names people and things of the facts, and says nothing that any question asks for. */
function chatter(chance: Chance, people: readonly string[]): string {
  const person = chance.pick(people);
  const thing = chance.pick(THINGS);
  const sentences = [
    `${person} called about the ${thing}, and nothing was decided.`,
    `The service desk was quiet, the port was not mentioned, and ${person} left early.`,
    `We talked with ${person} about a ${thing} for a while, without a result.`,
    `The team of ${person} met in the small room; the day was long and the coffee cold.`,
    `Somebody asked reception for a ${thing}, but ${person} had not heard of it.`,
  ];
  return Array.from({ length: 4 }, () => chance.pick(sentences)).join(" ");
}

function shuffled<Value>(chance: Chance, values: readonly Value[]): Value[] {
  return values
    .map((value) => ({ value, order: chance.next() }))
    .sort((a, b) => a.order - b.order)
    .map(({ value }) => value);
}
