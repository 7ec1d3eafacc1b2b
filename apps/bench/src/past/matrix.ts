// Runs the lossless engine with one summariser under one budget, and judges what it shows.
import { isDeepStrictEqual } from "node:util";
import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { countMessage, type ExactCounter } from "@clew/plugin-sdk/tokens";
import { pairToolCalls, textOf } from "@clew/plugin-sdk/transcript";
import { openPast } from "./open-past.ts";
import { askedSummariser, FOREIGN, isOfUse, type Summariser } from "./summarisers.ts";

/** How one went. */
export interface Cell {
  readonly summariser: Summariser;
  readonly budget: number;
  /** Largest view, exact tokens / budget. */
  readonly fill: number;
  /** What is no honest part of the history; empty as it should be. */
  readonly faults: readonly string[];
  readonly calls: number;
  readonly callsAtOnce: number;
  /** Characters given to the summariser for each that was told. */
  readonly inputShare: number;
  /** By the clock, of the compaction after a request that did not fit. */
  readonly emergencyMs: number;
  /** What stands for the past at the end. */
  readonly record: string;
}

/** A host ends what takes longer between turns. */
const ENDS_AFTER_MS = 3_000;
const PORTIONS = 4;
const SAMPLES = 12;

export async function runCell(
  messages: readonly AgentMessage[],
  {
    summariser,
    budget,
    counter,
  }: { summariser: Summariser; budget: number; counter: ExactCounter },
): Promise<Cell> {
  const asked = askedSummariser(summariser);
  const past = await openPast(messages, {
    ...{ summaries: "model", complete: asked.complete, portions: PORTIONS },
    ...(summariser === "hangs" && { endsAfterMs: ENDS_AFTER_MS }),
  });
  try {
    const faults: string[] = [];
    const first = await past.view(budget);
    const before = asked.calls;
    const began = performance.now();
    await past.compactInEmergency(budget);
    const emergencyMs = performance.now() - began;
    if (asked.calls > before) faults.push("an emergency asked the model");
    const second = await past.view(budget);
    const sizes = [first, second].map((view) =>
      view.reduce((sum, message) => sum + countMessage(message, counter), 0),
    );
    for (const view of [first, second]) faults.push(...faultsOf(view, messages));
    if (!isOfUse(summariser) && (await past.describe("past")).includes("a model notes"))
      faults.push("words of no use were stored");
    const step = Math.max(1, Math.floor(messages.length / SAMPLES));
    for (let at = 0; at < messages.length; at += step)
      if (!(await past.describe(`@${messageId(messages[at]!)}`)).includes("<stored "))
        faults.push(`message ${at} does not come back`);
    const [record] = second;
    const told = messages.reduce((sum, message) => sum + JSON.stringify(message).length, 0);
    return {
      ...{ summariser, budget, faults, emergencyMs },
      fill: Math.max(...sizes) / budget,
      ...{ calls: asked.calls, callsAtOnce: asked.most, inputShare: asked.chars / told },
      record: record?.role === "compactionSummary" ? record.summary : "",
    };
  } finally {
    await past.close();
  }
}

/** Pure: what is wrong with a view of these messages. */
export function faultsOf(
  view: readonly AgentMessage[],
  messages: readonly AgentMessage[],
): string[] {
  const faults: string[] = [];
  const places = new Map(messages.map((message, at) => [messageId(message), at]));
  const marker = view.filter(({ role }) => role === "compactionSummary");
  const shown = view.filter(({ role }) => role !== "compactionSummary");
  if (marker.length === 0 && shown.length < messages.length) faults.push("hidden, and no marker");
  const at = shown.map((message) => places.get(messageId(message)) ?? -1);
  if (shown.some((message, index) => !isDeepStrictEqual(message, messages[at[index]!])))
    faults.push("a message is altered");
  if (at.some((place, index) => index > 0 && place <= at[index - 1]!)) faults.push("out of order");
  if (at.at(-1) !== messages.length - 1) faults.push("the newest message is missing");
  const { unanswered, orphanResults } = pairToolCalls(shown);
  if (orphanResults.length > 0 || unanswered.length > 0)
    faults.push("a call without its result, or a result without its call");
  const records = marker.map((one) => ("summary" in one ? String(one.summary) : ""));
  const text = [...shown.map(textOf), ...records].join("\n");
  for (const sign of FOREIGN)
    if (text.includes(sign)) faults.push(`the view holds ${JSON.stringify(sign)}`);
  return faults;
}
