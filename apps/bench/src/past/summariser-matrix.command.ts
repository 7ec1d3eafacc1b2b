// The command `pnpm bench summariser-matrix`, which tries the engine with bad summarisers.
import { parseArgs } from "node:util";
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { loadExactCounter } from "@clew/plugin-sdk/tokens";
import { withMessageId } from "@clew/plugin-sdk/transcript";
import { formatTable } from "../../../gateway/src/terminal/table.ts";
import { describeMachine } from "../runner/machine.ts";
import { formatMachine } from "../runner/print.ts";
import { readRecordings } from "../shared/recordings.ts";
import { makeDays } from "./days.ts";
import { type Cell, runCell } from "./matrix.ts";
import { isOfUse, SUMMARISERS, type Summariser } from "./summarisers.ts";

export const description =
  "summarisers that throw, hang, repeat, inject…: whether the lossless engine's views stay the same";

const USAGE = `Usage: pnpm bench summariser-matrix [FOLDER] [options]

  FOLDER           recorded sessions (*.jsonl), told one behind the other as one session; without it
                   one of several days is made up

  --tokens N       of the made-up session (default: 450000)
  --seed N         of it (default: a new one, printed)
  --budget TOKENS  of the view; repeatable (default: 8000, 32000, 128000)
  --only NAME      only this summariser, besides the absent one; repeatable
  --help           this text

"same" says whether the record is byte for byte what it is without a summariser. Faults are views
over budget, altered, doubled, unordered or unpaired messages, a newest message that is missing, what
is hidden without a marker, messages that do not come back, signs that only the summariser wrote, and
an emergency that asks it. Exit code 1 where there is one.
`;

/** Exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      tokens: { type: "string", default: "450000" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      budget: { type: "string", multiple: true, default: ["8000", "32000", "128000"] },
      only: { type: "string", multiple: true, default: Object.keys(SUMMARISERS) },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return say(USAGE);
  const [tokens, seed, ...budgets] = [values.tokens, values.seed, ...values.budget].map(Number) as [
    number,
    number,
    ...number[],
  ];
  if (![tokens, seed, ...budgets].every((one) => Number.isInteger(one) && one >= 0))
    return complain("--tokens, --seed and --budget take whole numbers.");
  const unknown = values.only.find((name) => !Object.hasOwn(SUMMARISERS, name));
  if (unknown !== undefined)
    return complain(
      `There is no summariser "${unknown}"; there are: ${Object.keys(SUMMARISERS).join(", ")}.`,
    );
  const [folder] = positionals;
  if (folder === undefined)
    say("Recorded sessions: skipped, because no FOLDER is named; a session is made up.\n");
  const messages =
    folder === undefined ? makeDays({ seed, days: 5, tokens }).messages : inARow(folder);
  const counter = await loadExactCounter();
  say(`${formatMachine(describeMachine())}\nseed ${seed}, ${messages.length} messages\n\n`);
  const cells: (Cell & { same: string })[] = [];
  for (const budget of budgets) {
    const alone = await runCell(messages, { summariser: "absent", budget, counter });
    for (const name of values.only as Summariser[]) {
      process.stderr.write(`${name}, ${budget}\n`);
      const of = { summariser: name, budget, counter };
      const cell = name === "absent" ? alone : await runCell(messages, of);
      const isSame = cell.record === alone.record;
      cells.push({
        ...cell,
        same: isSame ? "yes" : "no",
        faults: [
          ...cell.faults,
          ...(cell.fill > 1 ? ["over budget"] : []),
          ...(isSame || isOfUse(name) ? [] : ["another record than without it"]),
        ],
      });
    }
  }
  say(`${formatTable(HEAD, cells.map(rowOf))}\n`);
  for (const { summariser, budget, faults } of cells)
    for (const fault of new Set(faults)) say(`Fault of ${summariser}, ${budget}: ${fault}.\n`);
  return cells.some(({ faults }) => faults.length > 0) ? 1 : 0;
}

const HEAD = [
  ...["summariser", "budget", "fill", "same", "calls", "at once", "given / told"],
  ...["emergency ms", "faults"],
];

const rowOf = (cell: Cell & { same: string }): string[] => [
  ...[cell.summariser, String(cell.budget), cell.fill.toFixed(2), cell.same],
  ...[String(cell.calls), String(cell.callsAtOnce), cell.inputShare.toFixed(3)],
  ...[cell.emergencyMs.toFixed(0), String(cell.faults.length)],
];

/** One session of all recordings, each message with an id of its own. */
const inARow = (folder: string): AgentMessage[] =>
  readRecordings(folder).flatMap(({ messages }, session) =>
    messages.map((message, at) => withMessageId(message, `s${session}m${at}`)),
  );

function say(text: string): number {
  process.stdout.write(text);
  return 0;
}

function complain(text: string): number {
  process.stderr.write(`${text}\n`);
  return 2;
}
