// The command `pnpm bench door-facts`, which asks at call 45 for what calls 1 to 15 told.
import { parseArgs } from "node:util";
import { DOOR_APIS } from "../../../gateway/src/config/door.ts";
import { formatTable } from "../../../gateway/src/terminal/table.ts";
import { describeMachine } from "../runner/machine.ts";
import { formatMachine } from "../runner/print.ts";
import { type FactSession, PLACES, planFactSession } from "./door-facts.ts";
import { compactByClient, type PlayedFacts, playFacts } from "./play-facts.ts";

export const description =
  "an agent's fifty calls through the door: which of twenty early facts the view of call 45 holds";

const USAGE = `Usage: pnpm bench door-facts [options]

  --seed N         of the first session (default: a new one, printed)
  --sessions N     how many, each by all four wires (default: 5)
  --window TOKENS  of the model (default: 32000)
  --help           this text

A result has 4,000 characters: a part of a file of this repository, or of a log. Thirteen facts stand
between two lines of a result, four in what the model says, two in arguments of calls, one in what the
person asks; all in calls 1 to 15. A fact counts when the request of call 45 holds it word for word.
With the recall tools the model looks once for each fact that the view lacks, by words around it, and the
request that goes out with what was found is judged.
Beside it a client's own compaction, modelled: where its history is above nine tenths of the window
it goes on from the person's words, the last 4,000 characters of the history as its summary, and the
newest call with its result.
`;

/** Exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      sessions: { type: "string", default: "5" },
      window: { type: "string", default: "32000" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return say(USAGE);
  const [seed, sessions, window] = [values.seed, values.sessions, values.window].map(Number) as [
    number,
    number,
    number,
  ];
  if (![seed, sessions, window].every((one) => Number.isInteger(one) && one > 0)) {
    process.stderr.write("--seed, --sessions and --window take whole numbers above 0.\n");
    return 2;
  }
  say(`${formatMachine(describeMachine())}\nseed ${seed}, window ${window}\n\n`);
  const plans = Array.from({ length: sessions }, (_, at) => planFactSession(seed + at));
  const rows: string[][] = [
    rowOf(
      "a client's own compaction",
      plans.map((plan) => compactByClient(plan, window)),
    ),
  ];
  for (const recall of [false, true])
    for (const api of DOOR_APIS) {
      const played: PlayedFacts[] = [];
      for (const plan of plans) played.push(await playFacts(api, plan, { window, recall }));
      rows.push(rowOf(`the door${recall ? " with recall" : ""}, ${api}`, played));
    }
  say(`${formatTable(["by", "facts of 20", "least", ...PLACES, "beginnings kept of 50"], rows)}\n`);
  return 0;

  function rowOf(name: string, played: readonly PlayedFacts[]): string[] {
    const counts = played.map(({ held }) => held.size);
    const shareOf = (place: string) => {
      const of = (plan: FactSession) => plan.facts.filter((fact) => fact.place === place);
      const held = plans.map((plan, at) => of(plan).filter((fact) => played[at]!.held.has(fact)));
      return `${held.flat().length} of ${plans.flatMap(of).length}`;
    };
    return [
      name,
      (counts.reduce((sum, count) => sum + count, 0) / counts.length).toFixed(1),
      String(Math.min(...counts)),
      ...PLACES.map(shareOf),
      String(Math.min(...played.map(({ kept }) => kept))),
    ];
  }
}

function say(text: string): number {
  process.stdout.write(text);
  return 0;
}
