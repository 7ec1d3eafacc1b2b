// Plans which files a client reads, and what it is asked about them.
import {
  ASKED_AT,
  type FactSession,
  type PlantedFact,
  planFactSession,
} from "../../apps/bench/src/gateway/door-facts.ts";

/** A conversation's name, by which its folder of files is called, too. */
export type Part = "main" | "a" | "b";

export interface Task {
  /** What the client is told. */
  prompt: string;
  /** Of each conversation: files to read, in order, and what is said beside the call. */
  parts: ReadonlyMap<Part, readonly { text: string; content: string }[]>;
  /** What the main conversation is asked for, before it reads file 45. */
  facts: readonly PlantedFact[];
  /** Below it each conversation has a folder. */
  folder: string;
  /** What the main conversation has others do. Empty: nothing. */
  delegated: readonly string[];
}

/** By which a model tells in which conversation it is: the first one that is named. */
export const PART_MARK = /TASK (main|a|b):/;

export const pathOf = (folder: string, part: Part, file: number): string =>
  `${folder}/notes-${part}/${file}.txt`;

/** The newest file of a conversation that a text names, or 0. */
export function newestFile(text: string, folder: string, part: Part): number {
  const found = text.matchAll(new RegExp(`${folder}/notes-${part}/(\\d+)\\.txt`, "g"));
  return Math.max(0, ...[...found].map(([, file]) => Number(file)));
}

export const finalWords = (part: Part, files: number): string =>
  `All ${files} files of part ${part} are read.`;

/** So many files, and twenty facts where there are enough. */
export function planReading(folder: string, files: number): Task {
  const plan = planFactSession(SEED, PLANNED);
  const calls = plan.calls.slice(0, files);
  const notes = calls.map(({ text, result }, at) => ({
    text,
    content: at + 2 === ASKED_AT ? `${result}\n${questionsOf(plan)}\n` : result,
  }));
  return {
    ...{ folder, delegated: [], parts: new Map([["main", notes]]) },
    prompt: `${order(folder, "main", files)} ${plan.person}`,
    facts: files < ASKED_AT ? [] : plan.facts,
  };
}

/** Two subagents, which read so many files each. */
export function planDelegation(folder: string, files: number): Task {
  const { calls } = planFactSession(SEED, PLANNED);
  const parts = (["a", "b"] as const).map((part, at) => {
    const own = calls.slice(at * files, (at + 1) * files);
    return [part, own.map(({ result }) => ({ text: "", content: result }))] as const;
  });
  return {
    ...{ folder, facts: [], parts: new Map(parts) },
    prompt: "TASK main: let two subagents read the files of both parts, at the same time.",
    delegated: parts.map(([part]) => order(folder, part, files)),
  };
}

const SEED = 18;
const PLANNED = {
  // With what stands around it in a request a call takes about a thousand tokens.
  resultChars: 3_100,
  // A call has no room for a fact: its client says which arguments it takes.
  numberOf: { result: 15, reply: 4, arguments: 0, person: 1 },
};

const order = (folder: string, part: Part, files: number) =>
  `TASK ${part}: read the ${files} files in ${folder}/notes-${part}, in the order of their numbers.`;

const questionsOf = ({ facts }: FactSession) =>
  facts.map(({ query }, at) => `Question ${at + 1}: what is there about "${query}"?`).join("\n");
