// Lets contestants do the same, block by block in turn, each in a process of its own.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Ending, type Tasks, type Telling, WINDOW } from "./asks.ts";
import type { BenchSearch } from "./contestant.ts";
import type { EngineChoice } from "./plugin-engine.ts";
import { addCosts, type Cost } from "./samples.ts";
import { COMMON_WORD } from "./turns.ts";

/** Who takes part. */
export interface Runner {
  name: string;
  /** Null = the floor. */
  engine: EngineChoice | null;
  /** True: only what it stores, and how fast, is of interest. */
  onlyStores?: boolean;
}

/** One size, for all runners. */
export interface RaceRequest {
  runners: readonly Runner[];
  messages: number;
  bytesPerMessage: number;
  seed: number;
  /** Where databases are made, and removed again. */
  root: string;
  signal: AbortSignal;
  onProgress: (what: string) => void;
}

/** What one runner did at one size. */
export interface RunnerFigures {
  name: string;
  messages: number;
  /** Of all that it was told, as JSON. */
  inputBytes: number;
  bytesPerMessage: number;
  /** Until everything can be found. */
  ingest: Cost;
  worstTurn: Cost;
  /** The longest time for which what happens in the background kept others waiting. */
  worstStretch: Cost;
  /** Of the closed database, all that belongs to it. */
  diskBytes: number;
  peakBytes: number;
  /** Undefined: it only stored. */
  asked?: AskedFigures;
}

/** What a runner was asked when it held everything. */
export interface AskedFigures {
  /** Of each model call: its assembly, and of the last of a turn also what tells of the turn. */
  calls: Cost[];
  /** Of the messages told in these calls. */
  liveBytes: number;
  /** Of assemblies that were handed the newest messages. */
  window: Cost[];
  /** Of assemblies that were handed the whole history. */
  whole: Cost[];
  searches: Record<SearchName, { costs: Cost[]; isRight: boolean }>;
  restart: Cost[];
}

/** What is searched for. */
export type SearchName = "common word" | "rare word" | "rare pattern" | "pattern without hits";

const BLOCK_SHARE = 20;
const LARGEST_BLOCK = 5_000;
const LIVE_TURNS = 120;
const ASSEMBLIES = 30;
const WHOLE_ASSEMBLIES = 12;
const SEARCHES = 12;
const RESTARTS = 3;
/** A history of any length ends somewhere. */
const EVERYTHING = 1e9;

/** Every runner's figures at one size. */
export async function race(request: RaceRequest): Promise<RunnerFigures[]> {
  const { runners, messages, bytesPerMessage, seed, root, signal, onProgress } = request;
  const folder = mkdtempSync(join(root, "clew-speed-"));
  const processes: ContestantProcess[] = [];
  try {
    const shape = { seed, bytesPerMessage };
    const entrants = runners.map(({ engine }) => ({
      ...{ engine, shape },
      folder: mkdtempSync(join(folder, "runner-")),
    }));
    for (const entrant of entrants) {
      const started = startProcess(signal);
      processes.push(started);
      await started.ask("open", entrant);
    }
    const told = await tellAll(processes, { messages, onProgress });
    const memory = [];
    for (const one of processes) memory.push(await one.ask("memory", {}));
    const asked: (Omit<AskedFigures, "restart"> | undefined)[] = [];
    const askable = processes.filter((_, at) => runners[at]!.onlyStores !== true);
    onProgress("asking");
    const answers = await askAll(askable);
    for (const one of processes) {
      const at = askable.indexOf(one);
      asked.push(at < 0 ? undefined : answers[at]);
    }
    const figures: RunnerFigures[] = [];
    for (const [at, { name }] of runners.entries()) {
      const { messages: newest } = await processes[at]!.ask("newest", {});
      await processes[at]!.ask("close", {});
      processes[at]!.stop();
      const telling = told[at]!;
      const answer = asked[at];
      figures.push({
        ...{
          name,
          messages: telling.messages,
          inputBytes: telling.bytes + (answer?.liveBytes ?? 0),
          bytesPerMessage: telling.bytes / telling.messages,
        },
        ...{ ingest: telling.cost, worstTurn: telling.worstTurn },
        worstStretch: telling.worstStretch,
        diskBytes: bytesIn(entrants[at]!.folder),
        peakBytes: memory[at]!.peakBytes,
        ...(answer !== undefined && {
          asked: { ...answer, restart: await restarts({ ...entrants[at]!, newest }, signal) },
        }),
      });
    }
    return figures;
  } finally {
    for (const one of processes) one.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function tellAll(
  processes: readonly ContestantProcess[],
  { messages, onProgress }: Pick<RaceRequest, "messages" | "onProgress">,
): Promise<Telling[]> {
  const block = Math.min(LARGEST_BLOCK, Math.ceil(messages / BLOCK_SHARE));
  const told = processes.map((): Telling[] => []);
  for (let at = 0; at < messages; at += block) {
    for (const index of rotated(processes.length, at / block))
      told[index]!.push(
        await processes[index]!.ask("tell", { messages: Math.min(block, messages - at) }),
      );
    onProgress(`${Math.min(messages, at + block).toLocaleString("en")} messages told`);
  }
  return told.map((parts) => ({
    messages: parts.reduce((sum, part) => sum + part.messages, 0),
    bytes: parts.reduce((sum, part) => sum + part.bytes, 0),
    cost: addCosts(parts.map(({ cost }) => cost)),
    worstTurn: worst(parts.map(({ worstTurn }) => worstTurn)),
    worstStretch: worst(parts.map(({ worstStretch }) => worstStretch)),
  }));
}

async function askAll(
  processes: readonly ContestantProcess[],
): Promise<Omit<AskedFigures, "restart">[]> {
  const each = async <Answer>(work: (one: ContestantProcess) => Promise<Answer>) => {
    const answers: Answer[] = [];
    for (const one of processes) answers.push(await work(one));
    return answers;
  };
  const searches = await each(async (one) => {
    const ending = await one.ask("newest", {});
    const found = {} as AskedFigures["searches"];
    for (const { name, search, expected } of searchesFor(ending)) {
      const { costs, text } = await one.ask("search", { search, times: SEARCHES });
      found[name] = { costs, isRight: text.includes(expected) };
    }
    return found;
  });
  const calls = processes.map((): Cost[] => []);
  const liveBytes = processes.map(() => 0);
  for (let part = 0; part < LIVE_TURNS; part += LIVE_TURNS / 10)
    for (const index of rotated(processes.length, part)) {
      const answer = await processes[index]!.ask("live", { turns: LIVE_TURNS / 10 });
      calls[index]!.push(...answer.calls);
      liveBytes[index]! += answer.bytes;
    }
  const window = await each((one) => one.ask("assemble", { length: WINDOW, times: ASSEMBLIES }));
  // The first one makes what the others find.
  await each((one) => one.ask("assemble", { length: EVERYTHING, times: 1 }));
  const whole = await each((one) =>
    one.ask("assemble", { length: EVERYTHING, times: WHOLE_ASSEMBLIES }),
  );
  return processes.map((_, at) => ({
    ...{ calls: calls[at]!, liveBytes: liveBytes[at]! },
    window: window[at]!.costs,
    whole: whole[at]!.costs,
    searches: searches[at]!,
  }));
}

/** `expected`: what a right answer shows, beside the question. */
const searchesFor = ({
  ticket,
  text,
}: Ending): { name: SearchName; search: BenchSearch; expected: string }[] => [
  { name: "common word", search: { mode: "full_text", pattern: COMMON_WORD }, expected: "" },
  { name: "rare word", search: { mode: "full_text", pattern: ticket }, expected: text },
  { name: "rare pattern", search: { mode: "regex", pattern: ticket }, expected: text },
  { name: "pattern without hits", search: { mode: "regex", pattern: NOWHERE }, expected: "" },
];

const NOWHERE = "zzz[0-9]{4}qqq";

async function restarts(entrant: Tasks["restart"]["ask"], signal: AbortSignal): Promise<Cost[]> {
  const costs: Cost[] = [];
  for (let time = 0; time < RESTARTS; time++) {
    const again = startProcess(signal);
    try {
      costs.push(await again.ask("restart", entrant));
      await again.ask("close", {});
    } finally {
      again.stop();
    }
  }
  return costs;
}

const worst = (costs: readonly Cost[]): Cost => ({
  wallMs: Math.max(...costs.map(({ wallMs }) => wallMs)),
  cpuMs: Math.max(...costs.map(({ cpuMs }) => cpuMs)),
});

const rotated = (length: number, by: number) =>
  Array.from({ length }, (_, at) => (at + Math.round(by)) % length);

/** Without what a host writes itself. */
const bytesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => !name.endsWith(".jsonl") && !name.endsWith(".json"))
    .map((name) => statSync(join(folder, name)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);

interface ContestantProcess {
  ask<Task extends keyof Tasks>(
    task: Task,
    ask: Tasks[Task]["ask"],
  ): Promise<Tasks[Task]["answer"]>;
  stop(): void;
}

const HEAP_MB = 6_000;

function startProcess(signal: AbortSignal): ContestantProcess {
  const module = new URL("./contestant-process.ts", import.meta.url).pathname;
  const child: ChildProcess = fork(module, {
    execArgv: ["--conditions=@clew/source", "--no-warnings", `--max-old-space-size=${HEAP_MB}`],
    serialization: "advanced",
  });
  const stop = () => void child.kill("SIGKILL");
  signal.addEventListener("abort", stop, { once: true });
  return {
    stop() {
      signal.removeEventListener("abort", stop);
      stop();
    },
    async ask(task, ask) {
      signal.throwIfAborted();
      child.send({ task, ask });
      const waiting = new AbortController();
      const either = [once(child, "message", waiting), once(child, "exit", waiting).then(() => [])];
      const [reply] = await Promise.race(either).finally(() => {
        for (const each of either) each.catch(() => {});
        waiting.abort();
      });
      signal.throwIfAborted();
      if (reply === undefined) throw new Error(`A contestant ended while it was asked to ${task}.`);
      if ("error" in reply) throw new Error(String(reply.error));
      return reply.answer;
    },
  };
}
