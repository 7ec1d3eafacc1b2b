// What the transcript policy costs on a history that needs no repair, at three lengths.

import { conversation } from "@clew/plugin-sdk/testing";
import { prepareOutboundMessages, sanitizeSessionHistory } from "@clew/transcript-policy";
import { type BenchCase, type CaseResult, defineBench } from "../runner/bench.ts";

const LENGTHS = [1_000, 10_000, 100_000];
const ROUTE = { provider: "anthropic", modelApi: "anthropic-messages", modelId: "claude-opus-4-6" };
const name = (what: string, messages: number) => `${what}, ${messages} messages`;

function casesOf(
  what: string,
  run: (messages: ReturnType<typeof conversation>) => unknown,
): BenchCase[] {
  return LENGTHS.map((messages) => ({
    name: name(what, messages),
    ...(messages !== LENGTHS[0] && { compareTo: name(what, LENGTHS[0]!) }),
    prepare() {
      const history = conversation({ turns: messages / 4, tools: 1 }).slice(0, messages);
      return { run: () => run(history), facts: () => ({ messages: history.length }) };
    },
  }));
}

export default defineBench({
  name: "policy-sanitize",
  description:
    "sanitize and outbound over a clean history; goals: 5 ms at 1,000 messages, linear to 100,000",
  cases: [
    ...casesOf("sanitize", (messages) => sanitizeSessionHistory({ ...ROUTE, messages })),
    ...casesOf("outbound", (messages) => prepareOutboundMessages({ ...ROUTE, messages })),
  ],
  check(results: ReadonlyMap<string, CaseResult>) {
    return ["sanitize", "outbound"].flatMap((what) => {
      const ratio = results.get(name(what, 100_000))?.ratio ?? Number.POSITIVE_INFINITY;
      return ratio <= 300
        ? []
        : [`${what} takes ×${ratio.toFixed(0)} for ×100 the history; linear is ×100.`];
    });
  },
});
