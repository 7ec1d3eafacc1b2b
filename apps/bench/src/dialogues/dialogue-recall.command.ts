// The command `pnpm bench dialogue-recall`, which asks about long dialogues in plain words.
import { parseArgs } from "node:util";
import { type ExactCounter, loadExactCounter } from "@clew/plugin-sdk/tokens";
import { formatTable } from "../../../gateway/src/terminal/table.ts";
import { describeMachine } from "../runner/machine.ts";
import { formatMachine } from "../runner/print.ts";
import { bm25Of } from "./bm25.ts";
import { type Dialogue, KINDS, makeDialogue, type QuestionKind } from "./dialogue.ts";
import { lineOf, openRecallCall } from "./recall-call.ts";
import type { TopicSet } from "./topics.ts";
import { TOPICS_ONE } from "./topics-one.ts";
import { TOPICS_TWO } from "./topics-two.ts";

export const description =
  "long dialogues: whether one plain call of recall gives back the turns that answer a question";

const USAGE = `Usage: pnpm bench dialogue-recall [options]

  --seed N         of the first dialogue (default: a new one, printed)
  --dialogues N    how many of each set of topics (default: 8)
  --tokens N       of what may be given back (default: 2048)
  --summaries TEXT the engine's setting (default: off)
  --budget TOKENS  of the view (default: 8000)
  --missed         also print the questions whose answers were not given back
  --help           this text

BM25 over the turns, each with its day and speaker, and one call of lcm_expand_query with the
question as it is: whatever is longer than the tokens is cut off. "in view" needs no call: the first
40 characters of each turn of evidence stand in a view of the whole dialogue. "all" is the share of questions
whose every turn of evidence stands in what is left, "some" the share of those turns. The search was
tuned on the first set of topics. Of the second nothing was looked at but its introductions, for
names that begin a sentence.
`;

/** Exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      dialogues: { type: "string", default: "8" },
      tokens: { type: "string", default: "2048" },
      summaries: { type: "string", default: "off" },
      budget: { type: "string", default: "8000" },
      missed: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return say(USAGE);
  const numbers = [values.seed, values.dialogues, values.tokens, values.budget].map(Number);
  const [seed, count, tokens, budget] = numbers as [number, number, number, number];
  if (!numbers.every((number) => Number.isInteger(number) && number >= 0)) {
    process.stderr.write("--seed, --dialogues, --tokens and --budget take whole numbers.\n");
    return 2;
  }
  const counter = await loadExactCounter();
  say(`${formatMachine(describeMachine())}\nseed ${seed}, ${tokens} tokens\n`);
  const sets: [string, TopicSet][] = [
    ["topics that the search was tuned on", TOPICS_ONE],
    ["topics that it was not", TOPICS_TWO],
  ];
  for (const [title, topics] of sets) {
    const asked: Asked[] = [];
    for (let at = 0; at < count; at++)
      asked.push(
        ...(await askDialogue(makeDialogue(seed + at, topics), {
          ...{ counter, tokens, budget, summaries: values.summaries },
        })),
      );
    say(`\n${title}: ${count} dialogues\n\n${formatAsked(asked)}\n`);
    if (values.missed)
      for (const { system, kind, text, found } of asked)
        if (system === "lossless" && found.some((one) => !one))
          say(`${kind}: ${text} ${found.filter(Boolean).length} of ${found.length}\n`);
  }
  return 0;
}

/** One question, as one system answered it. */
export interface Asked {
  system: string;
  kind: QuestionKind;
  text: string;
  /** Of each turn of evidence. */
  found: readonly boolean[];
}

/** All systems, with the same turns; those that are asked, with the same room. */
export async function askDialogue(
  { turns, questions }: Dialogue,
  {
    counter,
    tokens,
    budget = 8_000,
    summaries = "off",
  }: { counter: ExactCounter; tokens: number; budget?: number; summaries?: string },
): Promise<Asked[]> {
  const day = (timestamp: number) => new Date(timestamp).toISOString().slice(0, 10);
  const months = new Intl.DateTimeFormat("en", { dateStyle: "long", timeZone: "UTC" });
  const lines = turns.map((turn) => `${day(turn.timestamp)} ${lineOf(turn)}`);
  // It may find a day or month by its name, too.
  const bm25 = bm25Of(turns.map((turn) => `${months.format(turn.timestamp)} ${lineOf(turn)}`));
  const recall = await openRecallCall(turns, summaries);
  const asked: Asked[] = [];
  try {
    const view = await recall.view(budget);
    const beginning = (at: number) => lineOf(turns[at]!).slice(0, SHOWN_CHARS);
    for (const { kind, text, evidence } of questions) {
      const answers = {
        BM25: withinTokens(
          bm25(text).map((at) => `${lines[at]}\n`),
          { counter, tokens },
        ),
        lossless: withinTokens([await recall.ask(text, tokens)], { counter, tokens }),
      };
      for (const [system, answer] of Object.entries(answers)) {
        const found = evidence.map((at) => answer.includes(lineOf(turns[at]!)));
        asked.push({ system, kind, text, found });
      }
      const found = evidence.map((at) => view.includes(beginning(at)));
      asked.push({ system: "view", kind, text, found });
    }
  } finally {
    await recall.close();
  }
  return asked;
}

/** Of a turn that a view names. */
const SHOWN_CHARS = 40;

/** As much of the pieces as the tokens hold, by an exact count. Pure. */
export function withinTokens(
  pieces: readonly string[],
  { counter, tokens }: { counter: ExactCounter; tokens: number },
): string {
  let kept = "";
  let left = tokens;
  for (const piece of pieces) {
    const size = counter.count(piece);
    if (size > left) return kept + headWithin(piece, { counter, tokens: left });
    kept += piece;
    left -= size;
  }
  return kept;
}

function headWithin(text: string, { counter, tokens }: { counter: ExactCounter; tokens: number }) {
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (counter.count(text.slice(0, middle)) <= tokens) low = middle;
    else high = middle - 1;
  }
  return text.slice(0, low);
}

/** Pure. */
export function formatAsked(asked: readonly Asked[]): string {
  const share = (some: readonly Asked[], of: (one: Asked) => number) =>
    some.length === 0
      ? "–"
      : ((100 * some.reduce((sum, one) => sum + of(one), 0)) / some.length).toFixed(1);
  const isAll = ({ found }: Asked) => (found.every(Boolean) ? 1 : 0);
  const part = ({ found }: Asked) => found.filter(Boolean).length / found.length;
  const rows = [...KINDS, "all"].map((kind) => {
    const of = (system: string) =>
      asked.filter((one) => one.system === system && (kind === "all" || one.kind === kind));
    const [bm25, lossless, view] = [of("BM25"), of("lossless"), of("view")];
    return [
      kind,
      String(bm25.length),
      ...[bm25, lossless, view].flatMap((some) => [share(some, isAll), share(some, part)]),
    ];
  });
  const head = ["kind", "asked", "BM25 all", "some", "lossless all", "some", "in view all", "some"];
  return formatTable(head, rows);
}

function say(text: string): number {
  process.stdout.write(text);
  return 0;
}
