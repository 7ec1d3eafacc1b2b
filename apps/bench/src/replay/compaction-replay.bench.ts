// Whether every recorded session gets through a small window, and at what cost.
import type { ModelRef } from "@clew/plugin-sdk/host";
import { type BenchCase, type CaseResult, defineBench } from "../runner/bench.ts";
import { type Recording, readRecordings } from "../shared/recordings.ts";
import { type NamedLater, namedByClient, namedLater } from "./named-later.ts";
import { type ObservedReplay, replaySession } from "./replay-session.ts";

const WINDOWS = [32_000, 64_000, 128_000];
/** Issue goal: of the names used after a compaction, summary and ledger hold this share. */
const GOAL = 0.97;
/** Wires with rules of their own; the first is the one that is measured. */
const ROUTES = [
  { provider: "anthropic", api: "anthropic-messages", id: "claude-opus-4-6" },
  { provider: "openai", api: "openai-responses", id: "gpt-5.5" },
  { provider: "google", api: "google-generative-ai", id: "gemini-3-pro" },
  { provider: "mistral", api: "mistral-conversations", id: "mistral-large" },
] as const;

function prepare(recording: Recording, contextWindow: number) {
  let facts: Record<string, number> = {};
  const client = namedByClient(recording.branch);
  return {
    async run() {
      const replays: ObservedReplay[] = [];
      for (const route of ROUTES) {
        const model: ModelRef = { ...route, contextWindow, maxOutputTokens: 8192 };
        const replay = await replaySession(recording, model);
        tell(recording.name, model, replay);
        replays.push(replay);
      }
      const [measured] = replays;
      if (measured !== undefined)
        facts = { ...factsOf(measured, replays), ...names(namedLater(measured.branch), client) };
      return facts;
    },
    facts: () => facts,
  };
}

function factsOf(
  { result, bytes, reusedBytes }: ObservedReplay,
  replays: readonly ObservedReplay[],
): Record<string, number> {
  const { calls, compactions, time } = result;
  const tokens = calls.map((call) => call.tokens);
  const over = (all: readonly ObservedReplay[], count: (replay: ObservedReplay) => number) =>
    all.reduce((sum, one) => sum + count(one), 0);
  return {
    calls: calls.length,
    "tokens/call": Math.round(
      tokens.reduce((sum, count) => sum + count, 0) / Math.max(1, tokens.length),
    ),
    most: Math.max(0, ...tokens),
    "over budget": calls.filter(({ isOverBudget }) => isOverBudget).length,
    "prefix reuse %": percent(reusedBytes, bytes),
    summaries: compactions,
    "host s": Math.round(time.total / 100) / 10,
    overflows: over(
      replays,
      ({ result: { failures } }) => failures.filter(({ kind }) => kind === "overflow").length,
    ),
    "not made": over(replays, ({ result: { callsNotMade } }) => callsNotMade),
    invalid: over(replays, ({ invalid }) => invalid),
  };
}

function names(ours: NamedLater, client: ReturnType<typeof namedByClient>): Record<string, number> {
  return {
    evidence: ours.evidence,
    named: ours.named,
    "named %": percent(ours.named, ours.evidence),
    "summary alone %": percent(ours.inSummary, ours.evidence),
    "grounded %": percent(ours.grounded, ours.evidence),
    ...(client.evidence > 0 && {
      "client's summary %": percent(client.inSummary, client.evidence),
    }),
  };
}

/** To one decimal; nothing to find is all found. */
const percent = (part: number, whole: number) =>
  whole === 0 ? 100 : Math.round((1000 * part) / whole) / 10;

function tell(
  name: string,
  { api, contextWindow }: ModelRef,
  { result, invalid, firstFault }: ObservedReplay,
): void {
  const where = `${name}, ${contextWindow} tokens, ${api}`;
  for (const { turn, reason } of result.failures)
    process.stderr.write(`\n${where}: turn ${turn} failed: ${reason.slice(0, 200)}\n`);
  if (invalid > 0)
    process.stderr.write(`\n${where}: ${invalid} invalid requests, the first: ${firstFault}\n`);
}

export default (folder: string | undefined) =>
  defineBench({
    name: "compaction-replay",
    description: `every recorded session × window × ${ROUTES.length} policies: no overflow, valid requests, names held ≥ 97 % (needs FOLDER)`,
    rounds: 1,
    warmups: 0,
    cases: readRecordings(folder).flatMap((recording) =>
      WINDOWS.map(
        (window): BenchCase => ({
          name: `${recording.name}, ${window / 1000}k`,
          prepare: () => prepare(recording, window),
        }),
      ),
    ),
    check(results: ReadonlyMap<string, CaseResult>) {
      const all = [...results.values()];
      const sum = (fact: string) =>
        all.reduce((total, { facts }) => total + (facts?.[fact] ?? 0), 0);
      const share = sum("evidence") === 0 ? 1 : sum("named") / sum("evidence");
      return [
        ...all.flatMap(({ name, facts = {} }) => [
          ...(facts.overflows === 0 && facts["not made"] === 0
            ? []
            : [
                `${name}: ${facts.overflows} overflows reached the person, ${facts["not made"]} recorded calls were not made.`,
              ]),
          ...(facts.invalid === 0 ? [] : [`${name}: ${facts.invalid} requests would be rejected.`]),
        ]),
        ...(share >= GOAL
          ? []
          : [`${(share * 100).toFixed(1)} % of the names used later are named; the goal is 97 %.`]),
      ];
    },
  });
