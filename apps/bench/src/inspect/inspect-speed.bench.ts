// What questions about single calls of a session take, by the session's length.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readEnvironment } from "../../../gateway/src/config/environment.ts";
import { checkConfigText } from "../../../gateway/src/config/load.ts";
import { createGateway } from "../../../gateway/src/create-gateway.ts";
import type { Inspector } from "../../../gateway/src/inspect/inspector.ts";
import { type BenchCase, type CaseResult, defineBench } from "../runner/bench.ts";
import { writeLongSession } from "./long-session.ts";

const SIZES = [1_000, 10_000, 100_000];

/** What is asked for is as much in the longest session as in the shortest one. */
const MOST_GROWTH = 3;

type Ask = (inspector: Inspector, round: number, calls: number) => Promise<unknown>;

/** `round` counts what was asked before: what is new each time is not answered from memory. */
const QUESTIONS: Record<string, Ask> = {
  "page of entries": (inspector, round) =>
    inspector.entries({ skip: (round * 200) % 800, limit: 200 }),
  "page of what a summary holds": (inspector, round) =>
    inspector.entries({ fate: "summary", skip: (round * 100) % 300, limit: 100 }),
  "one entry": (inspector, round) => inspector.entry(`u${round % 100}`, undefined),
  "newest calls": (inspector) => inspector.calls({ limit: 100 }),
  "one item of the newest call": (inspector, _round, calls) =>
    inspector.item(`${calls}.1`, "messages", 3),
  "old summary": (inspector) => inspector.summary("c200"),
};

/** Here a first look at a call may read its whole branch once. */
const OPENING: Record<string, Ask> = {
  "another call": (inspector, round, calls) =>
    inspector.call(`${calls - 1 - (round % (calls / 4))}.1`),
};

const opened = new Map<number, Promise<{ inspector: Inspector; close: () => Promise<void> }>>();

export default defineBench({
  name: "inspect-speed",
  description: "questions about single calls, in sessions of 1,000 to 100,000 messages; goal: flat",
  cases: Object.entries({ ...QUESTIONS, ...OPENING }).flatMap(([name, ask]) =>
    SIZES.map((size) => caseOf(name, ask, size)),
  ),
  check: (results: ReadonlyMap<string, CaseResult>) =>
    Object.keys(QUESTIONS).flatMap((name) => {
      const ratio = results.get(nameOf(name, SIZES.at(-1)!))?.ratio ?? Infinity;
      return ratio <= MOST_GROWTH
        ? []
        : [`${name}: ×${ratio.toFixed(1)} of what a hundredth of the session takes.`];
    }),
});

function nameOf(question: string, size: number): string {
  return `${question}, ${size.toLocaleString("en")}`;
}

function caseOf(question: string, ask: Ask, size: number): BenchCase {
  return {
    name: nameOf(question, size),
    ...(size !== SIZES[0] && { compareTo: nameOf(question, SIZES[0]!) }),
    async prepare() {
      const { inspector, close } = await openOnce(size);
      let round = 0;
      return { run: () => ask(inspector, round++, size / 2), dispose: close };
    },
  };
}

/** The same session for all questions; the first one to end closes it. */
function openOnce(size: number) {
  const known = opened.get(size) ?? openLong(size);
  opened.set(size, known);
  return known;
}

async function openLong(size: number) {
  const home = await mkdtemp(join(tmpdir(), "clew-inspect-"));
  await writeLongSession(home, size);
  const loaded = checkConfigText("{}", "clew.json");
  const quiet = { info() {}, warn() {}, error() {} };
  const environment = readEnvironment({ CLEW_HOME: home, HOME: home });
  const gateway = createGateway({ environment, loaded, log: quiet });
  const inspector = await gateway.inspect("main");
  const begun = performance.now();
  await inspector.calls({ limit: 1 });
  const first = Math.round(performance.now() - begun);
  process.stderr.write(`\nthe first question of ${size.toLocaleString("en")}: ${first} ms`);
  let isClosed = false;
  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    await gateway.close();
    await rm(home, { recursive: true, force: true });
  };
  return { inspector, close };
}
