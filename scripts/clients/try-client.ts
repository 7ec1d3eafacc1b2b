// Tries one client in every way there is, and says what is not as it has to be.
import { type Client, FAULTS, type Fault } from "./clients.ts";
import { type Judged, judge } from "./judge.ts";
import { type ClientRun, type RunOutcome, runClient } from "./run-client.ts";
import { planDelegation, planReading } from "./task.ts";

export interface Tried {
  /** Exit code, seconds, calls, beginnings, sessions, messages, mean, facts and so on. */
  cells: readonly string[];
  /** What this client cannot be tried with, and why. */
  skipped: readonly string[];
  wrong: readonly string[];
}

const CALLS = 50;
const LEAST_KEPT = 46;
const LEAST_FACTS = 19;
const CALLS_WITH_FAULTS = 12;
/** Before which file each happens. */
const FAULTS_AT: readonly number[] = [3, 5, 7, 9];
const CALLS_OF_SUBAGENT = 20;

export async function tryClient(client: Client, command: string): Promise<Tried> {
  const asked = { client, command };
  const reading = (folder: string) => planReading(folder, CALLS);
  const door = await run({ ...asked, plan: reading, by: "door" });
  const recall = await run({ ...asked, plan: reading, by: "door-recalling" });
  const alone = await run({ ...asked, plan: reading, by: "alone" });
  const subagents = await runSubagents(asked);
  const faults = await runFaults(asked);
  return {
    cells: [
      ...[door.outcome.code, door.outcome.seconds.toFixed(0)].map(String),
      ...[shareOf(door.judged.read, door.judged.files), String(door.judged.kept)],
      ...[String(door.judged.sessions), shareOf(door.judged.storedOnce, door.judged.messages)],
      ...[`${(meanOf(door.outcome) / 1_000).toFixed(1)}k`, String(door.judged.known)],
      ...[String(recall.judged.known), tellAlone(alone), subagents.cell, faults.cell],
    ],
    skipped: [...subagents.skipped, ...faults.skipped],
    wrong: [
      ...door.wrong,
      ...wrongKept(client, door.judged),
      ...wrongFacts(door.judged),
      ...[...recall.wrong, ...wrongFacts(recall.judged)].map(
        (what) => `with the recall tools: ${what}`,
      ),
      ...[...subagents.wrong, ...faults.wrong],
    ],
  };
}

interface Ran {
  outcome: RunOutcome;
  judged: Judged;
  wrong: string[];
}

async function run(asked: ClientRun): Promise<Ran> {
  const outcome = await runClient(asked);
  const judged = judge(outcome, asked.client);
  return { outcome, judged, wrong: wrongIn(outcome, judged) };
}

/** What may never be, whatever the client is asked to do. */
function wrongIn({ code, said }: RunOutcome, judged: Judged): string[] {
  const { read, files, storedOnce, messages } = judged;
  const checks: [boolean, string][] = [
    [code !== 0, `exit code ${code}; it said at last:\n${said}`],
    [read !== files, `only ${read} of ${files} files are read`],
    [judged.refused > 0, `${judged.refused} requests did not fit`],
    [judged.compactions > 0, `${judged.compactions} compactions by the client`],
    [storedOnce !== messages, `only ${storedOnce} of ${messages} messages are stored once`],
    [judged.changedReplies > 0, `${judged.changedReplies} replies came otherwise`],
    [judged.sessions !== judged.conversations, `${judged.sessions} sessions`],
  ];
  return checks.flatMap(([isWrong, what]) => (isWrong ? [`${what}.`] : []));
}

function wrongKept({ leastKept = LEAST_KEPT }: Client, { kept }: Judged): string[] {
  return kept < leastKept ? [`only ${kept} beginnings unchanged.`] : [];
}

const wrongFacts = ({ known, facts }: Judged): string[] =>
  known < LEAST_FACTS ? [`only ${known} of ${facts} facts are known at call 45.`] : [];

interface Part {
  cell: string;
  skipped: readonly string[];
  wrong: readonly string[];
}

async function runSubagents(asked: Pick<ClientRun, "client" | "command">): Promise<Part> {
  if (asked.client.subagents === undefined) return { cell: "", skipped: [], wrong: [] };
  const plan = (folder: string) => planDelegation(folder, CALLS_OF_SUBAGENT);
  const { outcome, judged, wrong } = await run({ ...asked, plan, by: "door" });
  const children = outcome.sessions.filter(({ parent }) => parent !== undefined).length;
  const lost = children === 2 ? [] : [`only ${children} of 2 sessions know who started them.`];
  return {
    cell: `${judged.sessions} sessions, ${shareOf(judged.read, judged.files)}`,
    skipped: [],
    wrong: [...wrong, ...lost].map((what) => `with two subagents: ${what}`),
  };
}

async function runFaults(asked: Pick<ClientRun, "client" | "command">): Promise<Part> {
  const { failsAt = [] } = asked.client;
  const survived = FAULTS.filter((fault) => !failsAt.includes(fault));
  const faults = new Map(survived.map((fault, at): [number, Fault] => [FAULTS_AT[at]!, fault]));
  const plan = (folder: string) => planReading(folder, CALLS_WITH_FAULTS);
  const { outcome, judged, wrong } = await run({ ...asked, plan, by: "door", faults });
  const met = outcome.model.taken.filter(({ fault }) => fault !== undefined).length;
  const missed = met === faults.size ? [] : [`only ${met} of ${faults.size} faults happened.`];
  return {
    cell: `${survived.join(", ")}: ${shareOf(judged.read, judged.files)}`,
    skipped: failsAt.map((fault) => `not tried with "${fault}", which it does not survive alone.`),
    wrong: [...wrong, ...missed].map((what) => `with faults: ${what}`),
  };
}

function tellAlone({ outcome, judged }: Ran): string {
  const { code } = outcome;
  const { read, files, known, compactions } = judged;
  const times = compactions === 1 ? "1 compaction" : `${compactions} compactions`;
  return read < files ? `stopped after ${read}, exit ${code}` : `${known}, ${times}, exit ${code}`;
}

const shareOf = (some: number, all: number) => `${some} of ${all}`;

const meanOf = ({ model: { taken } }: RunOutcome) =>
  taken.reduce((sum, { tokens }) => sum + tokens, 0) / taken.length;
