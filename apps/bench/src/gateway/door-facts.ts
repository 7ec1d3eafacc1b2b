// Plans fifty calls of an agent, and twenty facts that stand in the first fifteen of them.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Chance, createChance } from "../replay/generate/chance.ts";

/** Where a fact is told. */
export const PLACES = ["result", "reply", "arguments", "person"] as const;
export type FactPlace = (typeof PLACES)[number];

export interface PlantedFact {
  place: FactPlace;
  /** Words to look for it by, of which none is the answer. */
  query: string;
  /** What is asked for. */
  answer: string;
}

export interface PlannedCall {
  /** Said beside the call; "" is nothing. */
  text: string;
  args: Record<string, unknown>;
  result: string;
}

export interface FactSession {
  person: string;
  calls: readonly PlannedCall[];
  facts: readonly PlantedFact[];
}

export const CALLS = 50;
export const ASKED_AT = 45;
const TOLD_IN = 15;
const RESULT_CHARS = 4_000;
const NUMBER_OF: Readonly<Record<FactPlace, number>> = {
  result: 13,
  reply: 4,
  arguments: 2,
  person: 1,
};

/** What a result is made of: files of this repository, and lines of a log. */
const SOURCES = ["apps/gateway/src/door", "packages/plugin-sdk/src/record", "docs"] as const;
const ROOT = new URL("../../../../", import.meta.url).pathname;

/** The same seed gives the same session, as long as the files are the same. */
export function planFactSession(
  seed: number,
  { numberOf = NUMBER_OF, resultChars = RESULT_CHARS } = {},
): FactSession {
  const chance = createChance(seed);
  const files = SOURCES.flatMap(filesIn);
  const calls = Array.from({ length: CALLS }, (_, at) => ({
    text: at % 3 === 0 ? `I look at part ${at + 1} next.` : "",
    args: { path: `notes/${at + 1}.txt` } as Record<string, unknown>,
    result: at % 4 === 3 ? logOf(chance, resultChars) : textOf(chance, files, resultChars),
  }));
  const facts: PlantedFact[] = [];
  let person = "Read all parts, and tell me at the end what you were asked to look for.";
  for (const place of PLACES)
    for (let count = 0; count < numberOf[place]; count++) {
      const { line, ...fact } = newFact(chance, facts.length);
      const call = calls[chance.below(TOLD_IN)]!;
      facts.push({ place, ...fact });
      if (place === "person") person += ` ${line}`;
      else if (place === "reply") call.text += ` ${line}`;
      else if (place === "arguments") call.args = { ...call.args, note: line };
      else call.result = withLine(chance, call.result, line);
    }
  return { person, calls, facts };
}

const PROJECTS = "kestrel merlin osprey harrier falcon condor heron plover curlew avocet".split(
  " ",
);
const THINGS = "gate-code voucher extension locker invoice badge licence tariff".split(" ");

/** Kinds of which a session holds as many of each: words and numbers, paths, settings. */
function newFact(chance: Chance, at: number): Omit<PlantedFact, "place"> & { line: string } {
  const project = `${chance.pick(PROJECTS)}${at}`;
  const number = 10_000 + chance.below(90_000);
  const thing = chance.pick(THINGS);
  const made = [
    {
      line: `The ${thing} of project ${project} is ${chance.pick(PROJECTS)}-${number}.`,
      query: `${thing} of project ${project}`,
      answer: String(number),
    },
    {
      line: `${project}: releases are kept in /srv/${thing}/${number}/current`,
      query: `${project} releases are kept in`,
      answer: `/srv/${thing}/${number}/current`,
    },
    {
      line: `${project}_port = ${number}`,
      query: `${project}_port`,
      answer: String(number),
    },
    {
      line: `Ask ${chance.pick(["Amara Okafor", "Bruno Tamm", "Elif Yilmaz"])}${number} about the ${thing} of ${project}.`,
      query: `ask about the ${thing} of ${project}`,
      answer: String(number),
    },
  ];
  return made[at % made.length]!;
}

function filesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:ts|md)$/.test(name))
    .sort()
    .map((name) => readFileSync(join(ROOT, folder, name), "utf8"))
    .filter((text) => text.length >= RESULT_CHARS);
}

function textOf(chance: Chance, files: readonly string[], chars: number): string {
  const text = chance.pick(files);
  const from = chance.below(text.length - chars + 1);
  return text.slice(from, from + chars);
}

function logOf(chance: Chance, chars: number): string {
  let text = "";
  for (let second = 0; text.length < chars; second++) {
    const id = Math.floor(chance.next() * 2 ** 32).toString(16);
    text += `2026-11-05T10:${String(Math.floor(second / 60)).padStart(2, "0")}:${String(second % 60).padStart(2, "0")}Z INFO worker-${chance.below(8)} finished job ${id} in ${chance.below(900)} ms\n`;
  }
  return text;
}

/** Anywhere between two lines. */
function withLine(chance: Chance, text: string, line: string): string {
  const lines = text.split("\n");
  lines.splice(1 + chance.below(lines.length), 0, line);
  return lines.join("\n");
}
