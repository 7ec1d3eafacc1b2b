// Whether the ledger still names what a session goes on to use (measure M3).
import { loadExactCounter } from "@clew/plugin-sdk/tokens";
import { EMPTY_LEDGER, foldLedger, pathsInLedger, renderLedger } from "@clew/plugin-sdk/transcript";
import { type BenchCase, type CaseResult, defineBench } from "../runner/bench.ts";
import {
  evidenceOf,
  type ObservedCompaction,
  observedCompactions,
  stands,
} from "../shared/evidence.ts";
import { type Recording, readRecordings } from "../shared/recordings.ts";

const GOAL = 0.97;

function measure({ branch }: Recording, { cut, summary }: ObservedCompaction) {
  const names = evidenceOf(branch, cut);
  const { text } = renderLedger(foldLedger(EMPTY_LEDGER, branch.slice(0, cut)));
  const shown = [text, ...pathsInLedger(text)];
  const inLedger = names.filter((name) => shown.some((line) => stands(line, name)));
  const inSummary = names.filter((name) => stands(summary, name));
  const missed = names.filter((name) => !inLedger.includes(name) && !inSummary.includes(name));
  return {
    text,
    evidence: names.length,
    ledger: inLedger.length,
    summary: inSummary.length,
    both: names.length - missed.length,
  };
}

export default (folder: string | undefined) =>
  defineBench({
    name: "ledger",
    description:
      "names used after each recorded compaction that the ledger (3,000 tokens) still holds; goal 97 % (needs FOLDER)",
    rounds: 3,
    cases: readRecordings(folder).flatMap((recording) =>
      observedCompactions(recording).map(
        (point): BenchCase => ({
          name: `${recording.name} at ${point.cut}`,
          async prepare() {
            const { text, ...counts } = measure(recording, point);
            const tokens = (await loadExactCounter()).count(text);
            const entries = recording.branch.slice(0, point.cut);
            return {
              run: () => renderLedger(foldLedger(EMPTY_LEDGER, entries)),
              facts: () => ({ ...counts, tokens }),
            };
          },
        }),
      ),
    ),
    check(results: ReadonlyMap<string, CaseResult>) {
      const sum = (fact: string) =>
        [...results.values()].reduce((total, { facts }) => total + (facts?.[fact] ?? 0), 0);
      const share = sum("both") / Math.max(1, sum("evidence"));
      const tooLong = [...results.values()]
        .filter(({ facts }) => (facts?.tokens ?? 0) > 3_000)
        .map(({ name }) => `${name}: more than 3,000 tokens.`);
      return [
        ...tooLong,
        ...(results.size === 0 || share >= GOAL
          ? []
          : [`${(share * 100).toFixed(1)} % of the names used later are held; the goal is 97 %.`]),
      ];
    },
  });
