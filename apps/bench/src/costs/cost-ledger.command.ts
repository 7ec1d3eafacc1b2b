// The command `pnpm bench cost-ledger`, which compares the ledger with recorded usage.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCosts } from "../../../gateway/src/costs/ledger.ts";
import { sumUsage, type UsageSum } from "../../../gateway/src/costs/usage.ts";
import { formatTable } from "../../../gateway/src/terminal/table.ts";
import { readRecordings } from "../shared/recordings.ts";
import { playCalls, recordedUsage } from "./play-calls.ts";

export const description =
  "counts every recorded reply as the gateway counts calls, and compares tokens and dollars";

const USAGE = `Usage: pnpm bench cost-ledger FOLDER

  FOLDER  recorded sessions (*.jsonl)

Exit code 0, 1 where ledger and recording differ, 2 for wrong options.
`;

/** Exit code. */
export async function main(args: readonly string[]): Promise<number> {
  const [folder, ...more] = args;
  if (folder === undefined || more.length > 0 || folder.startsWith("-")) {
    process.stderr.write(USAGE);
    return folder === "--help" ? 0 : 2;
  }
  const rows: string[][] = [];
  let differ = 0;
  for (const { name, messages } of readRecordings(folder)) {
    const expected = recordedUsage(messages);
    const home = await mkdtemp(join(tmpdir(), "clew-costs-"));
    await playCalls(home, messages);
    const { total } = await sumUsage(readCosts(home));
    await rm(home, { recursive: true });
    const { input, cacheRead, cacheWrite, output } = total.tokens;
    const found = { calls: total.modelCalls, input, cacheRead, cacheWrite, output };
    const isSame = JSON.stringify(found) === JSON.stringify(expected.counts);
    const isPaid = Math.abs(total.cost.total - expected.dollars) < 1e-6;
    if (!isSame || !isPaid) differ++;
    rows.push([
      ...[name, ...Object.values(found).map((value) => value.toLocaleString("en-US"))],
      ...[costText(total), String(total.unknown)],
      isSame && isPaid ? "same" : `recorded ${JSON.stringify(expected)}`,
    ]);
  }
  const headings = ["session", "calls", "input", "cache read", "cache write", "output"];
  console.log(formatTable([...headings, "cost", "unknown", "recording"], rows));
  return differ === 0 ? 0 : 1;
}

const costText = ({ modelCalls, unknown, cost }: UsageSum): string =>
  unknown === modelCalls ? "not known" : `$${cost.total.toFixed(4)}`;
