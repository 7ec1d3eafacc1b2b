// The command `pnpm bench past-lines`, which asks what was done on each day.
import { parseArgs } from "node:util";
import { loadExactCounter } from "@clew/plugin-sdk/tokens";
import { formatTable } from "../../../gateway/src/terminal/table.ts";
import { describeMachine } from "../runner/machine.ts";
import { formatMachine } from "../runner/print.ts";
import { makeDays, type Task } from "./days.ts";
import { lastNamed, names, notNamedOnce, pastLines, saidOfDay } from "./judge-lines.ts";
import { openPast } from "./open-past.ts";

export const description =
  "long sessions of many days: whether a record names all of them, and what was done on each day";

const USAGE = `Usage: pnpm bench past-lines [options]

  --seed N         of the first session (default: a new one, printed)
  --sessions N     how many (default: 4)
  --tokens N       of each session (default: 1000000)
  --days N         of each session (default: 10)
  --budget TOKENS  of the view; repeatable (default: 32000, 64000, 128000)
  --summaries TEXT the engine's setting (default: code)
  --help           this text

Each day has one to four tasks. A question is a day that lies before the messages shown: "in view" it
is answered where what the record says of that day names every task of it, "in one call" where
lcm_describe of the day does. "named once" is the share of the messages before the view that exactly
one line names; "calls" is the most it takes from a line to a message.
`;

/** Exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      sessions: { type: "string", default: "4" },
      tokens: { type: "string", default: "1000000" },
      days: { type: "string", default: "10" },
      budget: { type: "string", multiple: true, default: ["32000", "64000", "128000"] },
      summaries: { type: "string", default: "code" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return say(USAGE);
  const [seed, sessions, tokens, days] = [
    values.seed,
    values.sessions,
    values.tokens,
    values.days,
  ].map(Number) as [number, number, number, number];
  const budgets = values.budget.map(Number);
  if (
    ![seed, sessions, tokens, days, ...budgets].every((one) => Number.isInteger(one) && one >= 0)
  ) {
    process.stderr.write("--seed, --sessions, --tokens, --days and --budget take whole numbers.\n");
    return 2;
  }
  const counter = await loadExactCounter();
  say(`${formatMachine(describeMachine())}\nseed ${seed}, ${days} days, ${tokens} tokens\n\n`);
  const rows = new Map(budgets.map((budget) => [budget, newRow()]));
  for (let at = 0; at < sessions; at++) {
    const session = makeDays({ seed: seed + at, days, tokens });
    const past = await openPast(session.messages, { summaries: values.summaries });
    const described = new Map<string, string>();
    for (const budget of budgets) {
      const row = rows.get(budget)!;
      const lines = pastLines(await past.record(budget));
      const last = lastNamed(lines);
      const before = session.messages[last - 1]?.timestamp ?? 0;
      row.lines.push(lines.length);
      row.tokens.push(counter.count(lines.join("\n")));
      row.messages += last;
      row.wrong += notNamedOnce(lines, session.messages.length);
      row.calls.push(lines.length === 0 ? 0 : await callsTo(past.describe, lines[0]!));
      for (const [day, tasks] of byDay(session.tasks)) {
        if (Date.parse(day) + DAY_MS > before) continue;
        if (!described.has(day)) described.set(day, await past.describe(day));
        const isAll = (text: string) => tasks.every((task) => names(text, task));
        const said = saidOfDay(lines, day);
        row.asked++;
        row.inView += Number(isAll(said));
        row.inOneCall += Number(isAll(said) || isAll(described.get(day)!));
        row.tasks += tasks.length;
        row.named += tasks.filter((task) => names(said, task)).length;
      }
      process.stderr.write(`session ${at + 1}, ${budget}\n`);
    }
    await past.close();
  }
  say(
    `${formatTable(
      [
        "budget",
        "lines",
        "tokens of lines",
        "named once",
        "calls",
        "days asked",
        "in view",
        "in one call",
        "tasks in view",
      ],
      [...rows].map(([budget, row]) => [
        String(budget),
        mostOf(row.lines),
        mostOf(row.tokens),
        share(row.messages - row.wrong, row.messages),
        mostOf(row.calls),
        String(row.asked),
        share(row.inView, row.asked),
        share(row.inOneCall, row.asked),
        share(row.named, row.tasks),
      ]),
    )}\n`,
  );
  return 0;
}

const DAY_MS = 86_400_000;

const newRow = () => ({
  lines: [] as number[],
  tokens: [] as number[],
  calls: [] as number[],
  ...{ messages: 0, wrong: 0, asked: 0, inView: 0, inOneCall: 0, tasks: 0, named: 0 },
});

/** From a line down to a message, the first of each. */
async function callsTo(describe: (id: string) => Promise<string>, line: string): Promise<number> {
  let id = /sum_\d+/.exec(line)?.[0];
  let calls = 0;
  while (id !== undefined) {
    calls++;
    const shown = await describe(id);
    id = /^- (sum_\d+)/m.exec(shown)?.[1];
  }
  return calls;
}

function byDay(tasks: readonly Task[]): Map<string, Task[]> {
  const days = new Map<string, Task[]>();
  for (const task of tasks) days.set(task.day, [...(days.get(task.day) ?? []), task]);
  return days;
}

const mostOf = (all: readonly number[]) => String(Math.max(0, ...all));

const share = (part: number, of: number) =>
  of === 0 ? "–" : `${((100 * part) / of).toFixed(1)} %`;

function say(text: string): number {
  process.stdout.write(text);
  return 0;
}
