// Judges from the model's log whether an engine did its work in a host.

import { CONTEXT_WINDOW } from "./hosts/host.ts";
import type { StepOutcome } from "./lead.ts";
import { isPersons, type SentRequest } from "./model-server.ts";
import type { TriedPlugin } from "./plugins.ts";
import { FACT } from "./session-script.ts";

/** Pure. Sentences about what is not as it should be; none = all is. */
export function judge(plugin: TriedPlugin, outcomes: readonly StepOutcome[]): string[] {
  return [
    ...outcomes.flatMap((outcome, at) => judgeStep(outcome, at)),
    ...judgeCompactions(outcomes),
    ...judgeMark(plugin, outcomes),
    ...judgeRecall(plugin, outcomes),
  ];
}

function judgeStep({ step, ok, text, requests }: StepOutcome, at: number): string[] {
  const name = `step ${at + 1} (${step.kind === "say" ? step.phase : step.kind})`;
  const tool = step.kind === "say" && step.phase === "tool";
  const ran = requests.some(({ messages }) =>
    messages.slice(messages.findLastIndex(isPersons) + 1).some(({ role }) => role === "tool"),
  );
  return [
    ...(ok ? [] : [`${name} failed: ${text.slice(0, 300)}`]),
    ...(tool && !ran ? [`${name}: the tool did not run`] : []),
    ...requests.flatMap(({ violations }) =>
      violations.map((rule) => `${name}: a request breaks ${rule.rule}: ${rule.text}`),
    ),
    ...requests
      .filter(({ tokens }) => tokens > CONTEXT_WINDOW)
      .map(({ tokens }) => `${name}: a request of ${tokens} tokens`),
  ];
}

/** The person's first request after a step. */
const nextAsked = (outcomes: readonly StepOutcome[], at: number): SentRequest | undefined =>
  outcomes
    .slice(at + 1)
    .flatMap(({ requests }) => requests)
    .find(({ isSummary }) => !isSummary);

const lastAsked = (outcomes: readonly StepOutcome[], at: number): SentRequest | undefined =>
  outcomes
    .slice(0, at)
    .flatMap(({ requests }) => requests)
    .findLast(({ isSummary }) => !isSummary);

/** What a compaction leaves stands in each request until the next one, to the byte. */
function judgeCompactions(outcomes: readonly StepOutcome[]): string[] {
  return outcomes.flatMap(({ step, ok }, at) => {
    if (step.kind !== "compact" || !ok) return [];
    const [before, after] = [lastAsked(outcomes, at), nextAsked(outcomes, at)];
    if (before === undefined || after === undefined)
      return [`step ${at + 1}: nothing was asked around the compaction`];
    const smaller =
      after.tokens < before.tokens
        ? []
        : [`step ${at + 1}: ${before.tokens} tokens before the compaction, ${after.tokens} after`];
    const end = outcomes.findIndex(
      ({ step: next }, index) =>
        index > at &&
        (next.kind === "compact" || (next.kind === "say" && next.phase === "overflow")),
    );
    const until = outcomes.slice(at + 1, end < 0 ? undefined : end);
    const heads = until
      .flatMap(({ requests }) => requests)
      .filter(({ isSummary }) => !isSummary)
      .map(headOf);
    const isSame = new Set(heads).size <= 1;
    return [...smaller, ...(isSame ? [] : [`step ${at + 1}: what stands for the past changed`])];
  });
}

/** The first message that is not the host's. */
const headOf = ({ messages }: SentRequest) =>
  messages.find(({ role }) => role === "user")?.text ?? "";

function judgeMark({ mark }: TriedPlugin, outcomes: readonly StepOutcome[]): string[] {
  if (mark === null) return [];
  const sent = outcomes.flatMap(({ requests }) => requests).flatMap(({ messages }) => messages);
  return sent.some(({ text }) => mark.test(text))
    ? []
    : [`no request holds what only its engine puts there (${mark})`];
}

function judgeRecall({ recall }: TriedPlugin, outcomes: readonly StepOutcome[]): string[] {
  if (recall === undefined) return [];
  const asked = outcomes.filter(({ step }) => step.kind === "say" && step.phase === "recall");
  const found = asked
    .flatMap(({ requests }) => requests)
    .flatMap(({ messages }) => messages)
    .some(({ role, text }) => role === "tool" && text.includes(`called ${FACT}`));
  return found ? [] : [`${recall.tool} did not find what was said at the beginning`];
}

/** What is counted of a session, for people. */
export interface Counts {
  turns: number;
  /** Turns that another engine answered, or that failed. */
  degraded: number;
  /** What the person said that no request held. */
  lost: number;
}

/** Pure. `ofEngine`: what the host's log says of an engine that did not answer. */
export function countTurns(outcomes: readonly StepOutcome[], ofEngine: readonly string[]): Counts {
  const said = outcomes.filter(({ step }) => step.kind === "say");
  const sent = outcomes.flatMap(({ requests }) => requests).flatMap(({ messages }) => messages);
  const isLost = ({ step }: StepOutcome) =>
    step.kind === "say" && !sent.some(({ text }) => text.includes(step.text));
  const failed = said.filter(({ ok }) => !ok).length;
  return {
    turns: said.length,
    degraded: failed + ofEngine.length,
    lost: said.filter(isLost).length,
  };
}

/** Pure. What of the calls is as it should be in any host: each turn is committed, once. */
export function judgeCalls(outcomes: readonly StepOutcome[]): string[] {
  return outcomes.flatMap(({ step, ok, calls }, at) => {
    if (step.kind !== "say" || !ok) return [];
    const commits = calls.filter((call) => call === "commitTurn").length;
    const shown = calls.includes("assemble");
    return [
      ...(shown ? [] : [`step ${at + 1}: the engine was not asked for a view`]),
      ...(commits <= 1 ? [] : [`step ${at + 1}: the turn was committed ${commits} times`]),
    ];
  });
}

/** Pure. The calls of each phase in order, each sequence once, a call that comes again as one. */
export function sequencesOf(outcomes: readonly StepOutcome[]): Record<string, string[]> {
  const found: Record<string, Set<string>> = {};
  for (const { step, calls } of outcomes) {
    const phase = step.kind === "say" ? step.phase : step.kind;
    found[phase] ??= new Set();
    found[phase].add(calls.filter((call, at) => call !== calls[at - 1]).join(" "));
  }
  return Object.fromEntries(
    Object.entries(found).map(([phase, sequences]) => [phase, [...sequences].sort()]),
  );
}
