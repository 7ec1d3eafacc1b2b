// One contestant in a process of its own, which does and measures what it is asked to.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { textOf } from "@clew/plugin-sdk/transcript";
import { type Ending, type Entrant, type Tasks, type Telling, WINDOW } from "./asks.ts";
import type { Contestant } from "./contestant.ts";
import { openFloor } from "./floor.ts";
import { loadEngine } from "./plugin-engine.ts";
import { addCosts, type Cost, costOf, longestStretch } from "./samples.ts";
import { type BenchTurn, COMMON_WORD, nameOf, turnsOf } from "./turns.ts";

/** Of a whole history, the newest so many are as they were told; older ones are shortened. */
const WHOLE = 2_000;
/** One turn in so many is remembered, to be searched for. */
const EVERY = 16;
const ENDING = 12;

let contestant: Contestant;
let turns: Iterator<BenchTurn>;
let newest: AgentMessage[] = [];
/** Messages that were told before those. */
let older = 0;
let turnsTold = 0;
/** What some requests end with, oldest first. */
const ends: Ending[] = [];

/** The first run is a different program: code is not compiled yet. */
const WARM_UP = 3_000;
const WARM_UP_TURNS = 50;

async function openAs(entrant: Entrant): Promise<Cost> {
  const warmUp = join(entrant.folder, "warm-up");
  mkdirSync(warmUp);
  await open({ ...entrant, folder: warmUp });
  await tell(WARM_UP);
  await live(WARM_UP_TURNS);
  await contestant.search({ mode: "full_text", pattern: COMMON_WORD });
  await contestant.close();
  rmSync(warmUp, { recursive: true });
  [newest, older, turnsTold] = [[], 0, 0];
  ends.length = 0;
  return open(entrant);
}

async function open({ folder, engine, shape }: Entrant): Promise<Cost> {
  turns = turnsOf(shape);
  const make = engine === null ? async () => openFloor(folder) : await loadEngine(folder, engine);
  return costOf(async () => {
    contestant = await make();
  });
}

function nextTurn(): readonly AgentMessage[] {
  const { ticket, messages } = turns.next().value as BenchTurn;
  if (turnsTold++ % EVERY === 0)
    ends.push({ ticket, text: textOf(messages[0]!).slice(-ticket.length - ENDING) });
  newest.push(...messages);
  if (newest.length > 2 * WHOLE) {
    older += newest.length - WHOLE;
    newest = newest.slice(-WHOLE);
  }
  return messages;
}

/** The whole history; who reads further back than any budget reaches, reads little there. */
const everything = (): AgentMessage[] => [
  ...Array.from({ length: older }, (_, at) => ({
    ...{ role: "user" as const, content: "long ago", timestamp: at },
    __openclaw: { id: nameOf(at) },
  })),
  ...newest,
];

const bytesOf = (messages: readonly AgentMessage[]) =>
  messages.reduce((sum, each) => sum + Buffer.byteLength(JSON.stringify(each)), 0);

const worse = (a: Cost, b: Cost): Cost => ({
  wallMs: Math.max(a.wallMs, b.wallMs),
  cpuMs: Math.max(a.cpuMs, b.cpuMs),
});
const NOTHING: Cost = { wallMs: 0, cpuMs: 0 };

async function tell(most: number): Promise<Telling> {
  const told: Telling = {
    ...{ messages: 0, bytes: 0 },
    ...{ cost: NOTHING, worstTurn: NOTHING, worstStretch: NOTHING },
  };
  while (told.messages < most) {
    const messages = structuredClone(nextTurn()) as AgentMessage[];
    told.messages += messages.length;
    told.bytes += bytesOf(messages);
    await contestant.hostWrites(messages);
    const turn = await costOf(() => contestant.tell(messages));
    let tidied = NOTHING;
    told.worstStretch = worse(
      told.worstStretch,
      await longestStretch(async () => {
        tidied = await costOf(() => contestant.tidy());
      }),
    );
    told.cost = addCosts([told.cost, turn, tidied]);
    told.worstTurn = worse(told.worstTurn, turn);
  }
  return told;
}

async function live(count: number): Promise<Tasks["live"]["answer"]> {
  const calls: Cost[] = [];
  let bytes = 0;
  for (let turn = 0; turn < count; turn++) {
    const before = newest.slice(-WINDOW);
    const messages = structuredClone(nextTurn()) as AgentMessage[];
    bytes += bytesOf(messages);
    const replies = messages.flatMap(({ role }, at) => (role === "assistant" ? [at] : []));
    for (const at of replies) {
      const history = structuredClone([...before, ...messages.slice(0, at)]);
      calls.push(await costOf(() => contestant.assemble(history)));
    }
    await contestant.hostWrites(messages);
    const told = await costOf(() => contestant.tell(messages));
    calls.push(addCosts([calls.pop()!, told]));
    await contestant.tidy();
  }
  return { calls, bytes };
}

async function assemble({ length, times }: Tasks["assemble"]["ask"]) {
  const costs: Cost[] = [];
  const history = length > newest.length ? everything() : newest.slice(-length);
  let shown = 0;
  for (let time = 0; time < times; time++) {
    // Hosts hand over copies of what is new to them.
    const handed = [...history.slice(0, -WINDOW), ...structuredClone(history.slice(-WINDOW))];
    costs.push(
      await costOf(async () => {
        shown = await contestant.assemble(handed);
      }),
    );
  }
  return { costs, shown };
}

async function search({ search: wanted, times }: Tasks["search"]["ask"]) {
  const costs: Cost[] = [];
  let text = "";
  for (let time = 0; time < times; time++)
    costs.push(
      await costOf(async () => {
        text = await contestant.search(wanted);
      }),
    );
  return { costs, text };
}

async function restart({ newest: messages, ...entrant }: Tasks["restart"]["ask"]): Promise<Cost> {
  const opened = await open(entrant);
  const shown = await costOf(() => contestant.assemble(messages));
  return addCosts([opened, shown]);
}

/** Of the earliest third, which an engine shows no model any more. */
const anOldEnding = () => ends[Math.floor(ends.length / 3)]!;

const PERFORM: {
  [Task in keyof Tasks]: (ask: Tasks[Task]["ask"]) => Promise<Tasks[Task]["answer"]>;
} = {
  open: openAs,
  tell: ({ messages }) => tell(messages),
  live: ({ turns: count }) => live(count),
  assemble,
  search,
  restart,
  newest: async () => ({ messages: newest.slice(-WINDOW), ...anOldEnding() }),
  memory: async () => ({ peakBytes: process.resourceUsage().maxRSS * 1024 }),
  close: async () => {
    await contestant.close();
    return {};
  },
};

process.on("message", async ({ task, ask }: { task: keyof Tasks; ask: never }) => {
  try {
    process.send?.({ answer: await PERFORM[task](ask) });
  } catch (error) {
    process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : error });
  }
});
// Whoever asks is gone.
process.on("disconnect", () => process.exit());
