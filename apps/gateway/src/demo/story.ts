// Invents the demo session, a small team's work on a tide table, from a seed.
import type { AgentMessage, AssistantMessage, UserMessage } from "@clew/plugin-sdk/core";
import { SESSION_TOOLS } from "../recall/record-text.ts";
import type { RecordedStep, RecordedTurn } from "../replay/recorded-turns.ts";
import { type Chance, createChance } from "./chance.ts";
import { inventProject, type ProjectFile } from "./project.ts";

/** What happens in a turn besides what is said. */
export type Incident = "engine-fails" | "request-too-large";

export interface StoryTurn extends RecordedTurn {
  prompt: UserMessage;
  /** Null: nothing out of the ordinary. */
  incident: Incident | null;
}

export interface Story {
  turns: readonly StoryTurn[];
  /** Read early, needed late, and by then in no request. */
  fact: { told: string; words: string; asked: string };
}

const SEED = 20_261;
const TURNS = 58;
const FILES = 30;
const SECONDS = 1000;
/** Longer than a provider keeps its cache. */
const BREAK_MS = 70 * 60 * SECONDS;

const FACT = {
  told: "Ines hangs the spare key of the pump house behind the blue oilskin.",
  words: "behind the blue oilskin",
  asked:
    "Something else: the notes we read in the beginning said where the spare key of the pump house is. Where?",
};

const REQUESTS = [
  "%s in %f gives the wrong height at spring tide; find out why and correct it.",
  "Please make %s in %f skip gauges that were out of order.",
  "The notice for pilots comes out an hour late. I suspect %s (%f).",
  "Move the rounding out of %s so that %f only reads.",
  "Add a test for %s; %f has none for an empty series.",
  "%f has grown too long. What of it does %s really need?",
];
const SAYS = [
  "I look at %f first.",
  "%s is called from elsewhere too; let me see %f.",
  "The limit looks odd. Reading %f again.",
  "Now the callers in %f.",
];
const ENDS = [
  "Done: %s in %f now clips before it rounds, and its tests pass.",
  "It was the offset in %s (%f): it was added twice at spring tide. Corrected, tests are green.",
  "%s no longer touches readings outside the window; %f is otherwise unchanged.",
];

/** Deterministic. `endsAt`: when the last reply came, ms since the epoch. */
export function inventStory(endsAt: number): Story {
  const chance = createChance(SEED);
  const files = inventProject(chance, FILES);
  const turns: StoryTurn[] = [];
  const work = { chance, files, calls: 0, seen: [] as ProjectFile[] };
  for (let at = 0; at < TURNS; at++) turns.push(inventTurn(work, at));
  return { turns: withTimes(turns, endsAt), fact: FACT };
}

interface Work {
  chance: Chance;
  files: readonly ProjectFile[];
  calls: number;
  seen: ProjectFile[];
}

const incidentAt = (turn: number): Incident | null =>
  turn === 23 ? "engine-fails" : turn === 37 ? "request-too-large" : null;

function inventTurn(work: Work, at: number): StoryTurn {
  if (at === 1) return notesTurn(work);
  if (at === TURNS - 2) return factTurn(work);
  const { chance, files } = work;
  const subject = chance.pick(files);
  const symbol = chance.pick(subject.symbols);
  const fill = (text: string, file: ProjectFile) =>
    text.replaceAll("%s", symbol).replaceAll("%f", file.path);
  const steps = [callStep(work, fill(chance.pick(SAYS), subject), [search(work, symbol)])];
  for (let step = 2 + chance.below(8); step > 0; step--) {
    const file = chance.happens(0.3) && work.seen.length > 0 ? chance.pick(work.seen) : subject;
    const other = chance.happens(0.5) ? chance.pick(files) : file;
    steps.push(callStep(work, fill(chance.pick(SAYS), other), usesOf(work, other)));
  }
  const tests = runTests(chance, subject);
  steps.push(callStep(work, "The tests.", [tests]));
  if (tests.isError === true)
    steps.push(callStep(work, "One failed: the limit. Once more.", [passing(chance, subject)]));
  steps.push(replyStep(fill(chance.pick(ENDS), subject)));
  return { ...turnOf(fill(chance.pick(REQUESTS), subject), steps), incident: incidentAt(at) };
}

/** Notes of the people who had the work before. */
function notesTurn(work: Work): StoryTurn {
  const path = "notes/handover.txt";
  const lines = Array.from({ length: 60 }, (_, at) => (at === 31 ? FACT.told : noteLine(work, at)));
  const ask = callStep(work, "I read the notes.", [
    { name: "read_file", args: { path }, output: lines.join("\n") },
  ]);
  return turnOf("The people before us left notes. Read them; does any of it concern the code?", [
    ask,
    replyStep("Only what they say of the gauges' clocks; the rest is about the building."),
  ]);
}

const noteLine = ({ chance }: Work, at: number): string =>
  `Week ${at + 1}: ${chance.pick(["gauge", "winch", "lamp", "gate"])} ${chance.below(9) + 1} ${chance.pick(["cleaned", "out of order", "repaired", "as before"])}, ${chance.pick(["fog", "calm", "spring tide", "neap tide"])}.`;

/** Where the session's own tool is there to search, its result stands in place of this one. */
function factTurn(work: Work): StoryTurn {
  const args = { query: "spare key pump house" };
  const ask = callStep(work, "That was long ago; I search this session.", [
    { name: SESSION_TOOLS.search, args, output: FACT.told },
  ]);
  return turnOf(FACT.asked, [ask, replyStep("Behind the blue oilskin; Ines hangs it there.")]);
}

interface ToolUse {
  name: string;
  args: Record<string, unknown>;
  output: string;
  isError?: boolean;
}

function usesOf({ chance, seen }: Work, file: ProjectFile): ToolUse[] {
  if (chance.happens(0.3)) return [edit(chance, file)];
  if (chance.happens(0.06)) return [history(chance, file)];
  if (!seen.includes(file)) seen.push(file);
  return [{ name: "read_file", args: { path: file.path }, output: numbered(file.text) }];
}

const numbered = (text: string): string =>
  text
    .split("\n")
    .map((line, at) => `${String(at + 1).padStart(4)}  ${line}`)
    .join("\n");

function search({ files }: Work, symbol: string): ToolUse {
  const hits = files.flatMap(({ path, text }) =>
    text
      .split("\n")
      .flatMap((line, at) => (line.includes(symbol) ? [`${path}:${at + 1}: ${line.trim()}`] : [])),
  );
  return { name: "search_files", args: { text: symbol }, output: hits.join("\n") };
}

function edit(chance: Chance, { path, symbols }: ProjectFile): ToolUse {
  const name = chance.pick(symbols);
  const isError = chance.happens(0.1);
  return {
    name: "edit_file",
    args: { path, before: `function ${name}(series`, after: `function ${name}(series = []` },
    output: isError ? `${path}: there is no such text.` : `${path}: 1 place changed.`,
    isError,
  };
}

/** Much text, of which hardly anything is needed later. */
function history(chance: Chance, { path, symbols }: ProjectFile): ToolUse {
  const lines = Array.from({ length: 160 }, () => {
    const id = (0x1000000 + chance.below(0xeffffff)).toString(16);
    return `${id} ${chance.pick(symbols)}: ${chance.pick(["clip", "round", "rename", "test"])}`;
  });
  return {
    name: "run_command",
    args: { command: `git log --oneline -- ${path}` },
    output: lines.join("\n"),
  };
}

function runTests(chance: Chance, file: ProjectFile): ToolUse {
  const passed = passing(chance, file);
  if (!chance.happens(0.2)) return passed;
  const failed = `FAIL ${file.path} ${chance.pick(file.symbols)}: expected 412, got 409`;
  return { ...passed, output: `${passed.output}\n${failed}`, isError: true };
}

function passing(chance: Chance, { path, symbols }: ProjectFile): ToolUse {
  const lines = symbols.map((name) => `ok   ${path} ${name} (${chance.below(80)} ms)`);
  return {
    name: "run_command",
    args: { command: `npm test -- ${path}` },
    output: lines.join("\n"),
  };
}

const turnOf = (text: string, steps: RecordedStep[]): StoryTurn => ({
  prompt: { role: "user", content: text },
  ...{ steps, after: [], incident: null },
});

const replyStep = (text: string): RecordedStep => ({
  before: [],
  reply: { role: "assistant", content: [{ type: "text", text }], stopReason: "stop" },
  results: [],
});

function callStep(work: Work, said: string, uses: readonly ToolUse[]): RecordedStep {
  const placed = uses.map((use) => ({ ...use, id: `call${++work.calls}` }));
  const content: AssistantMessage["content"] = [
    { type: "text", text: said },
    ...placed.map(({ id, name, args }) => ({
      type: "toolCall" as const,
      id,
      name,
      arguments: args,
    })),
  ];
  const results = placed.map(({ id, name, output, isError = false }) => ({
    ...{ role: "toolResult" as const, toolCallId: id, toolName: name, isError },
    content: [{ type: "text" as const, text: output }],
  }));
  return { before: [], reply: { role: "assistant", content, stopReason: "toolUse" }, results };
}

/** Some seconds between messages, and a break now and then, in which caches go cold. */
function withTimes(turns: readonly StoryTurn[], endsAt: number): StoryTurn[] {
  let elapsed = 0;
  const tick = <Message extends AgentMessage>(message: Message, ms: number): Message => {
    elapsed += ms;
    return { ...message, timestamp: elapsed };
  };
  const timed = turns.map((turn, at) => ({
    ...turn,
    prompt: tick(turn.prompt, at % 9 === 8 ? BREAK_MS : 90 * SECONDS),
    steps: turn.steps.map((step) => ({
      ...step,
      reply: tick(step.reply, 6 * SECONDS),
      results: step.results.map((result) => tick(result, SECONDS)),
    })),
  }));
  const shift = <Message extends AgentMessage>(message: Message): Message => ({
    ...message,
    timestamp: endsAt - elapsed + (message.timestamp as number),
  });
  return timed.map((turn) => ({
    ...turn,
    prompt: shift(turn.prompt),
    steps: turn.steps.map((step) => ({
      ...step,
      reply: shift(step.reply),
      results: step.results.map(shift),
    })),
  }));
}
