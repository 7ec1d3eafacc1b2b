// Whether every provider accepts every cut of every recorded session.
import {
  explainInvalid,
  prepareOutboundMessages,
  sanitizeSessionHistory,
} from "@clew/transcript-policy";
import {
  DISTINCT_ROUTES,
  nameOf,
} from "../../../../packages/transcript-policy/src/__fixtures__/routes.ts";
import { type BenchCase, type CaseResult, defineBench } from "../runner/bench.ts";
import { type Recording, readRecordings } from "../shared/recordings.ts";

/** Messages kept after a cut: what compactions and limits leave. */
const TAIL = 400;

async function countFaults({ messages }: Recording, route: (typeof DISTINCT_ROUTES)[number]) {
  let cuts = 0;
  let invalid = 0;
  for (let cut = 0; cut < messages.length; cut++) {
    const { messages: clean } = await sanitizeSessionHistory({
      ...route,
      messages: messages.slice(cut, cut + TAIL),
    });
    const { messages: sent } = prepareOutboundMessages({ ...route, messages: clean });
    cuts++;
    const faults = explainInvalid({ ...route, messages: sent });
    if (faults.length === 0) continue;
    invalid++;
    process.stderr.write(
      `\n${nameOf(route)}, cut ${cut}: ${faults[0]!.rule}: ${faults[0]!.message}\n`,
    );
  }
  return { cuts, invalid };
}

export default (folder: string | undefined) =>
  defineBench({
    name: "policy-cuts",
    description:
      "every cut point of every recorded session × every distinct policy must be valid (needs FOLDER)",
    rounds: 1,
    warmups: 0,
    cases: readRecordings(folder).map(
      (recording): BenchCase => ({
        name: recording.name,
        prepare() {
          const total = { cuts: 0, invalid: 0 };
          return {
            async run() {
              Object.assign(total, { cuts: 0, invalid: 0 });
              for (const route of DISTINCT_ROUTES) {
                const { cuts, invalid } = await countFaults(recording, route);
                total.cuts += cuts;
                total.invalid += invalid;
              }
              return total;
            },
            facts: () => ({
              messages: recording.messages.length,
              policies: DISTINCT_ROUTES.length,
              ...total,
            }),
          };
        },
      }),
    ),
    check: (results: ReadonlyMap<string, CaseResult>) =>
      [...results.values()].flatMap(({ name, facts }) =>
        facts?.invalid === 0 ? [] : [`${name}: ${facts?.invalid} cuts would be rejected.`],
      ),
  });
