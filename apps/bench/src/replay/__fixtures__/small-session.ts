// A session small enough to know every answer, and requests made of it by hand.

import type { AgentMessage } from "@clew/plugin-sdk/core";
import { loadExactCounter } from "@clew/plugin-sdk/tokens";
import { withMessageId } from "@clew/plugin-sdk/transcript";
import { type Frame, planFrame, type SentRequest } from "../frame.ts";
import { createSessionBuilder } from "../generate/build.ts";
import { createJudge, type JudgedRequest } from "../judge.ts";
import { addTallies, figureOf, MEASURES, type MeasureId } from "../measures.ts";
import { readScript } from "../script.ts";
import { createShownTable, type Shown } from "../shown.ts";

export const RULE = "Never touch anything below migrations, please.";
const FILLER = "The quick brown fox jumps over the lazy dog near the river. ".repeat(12);

const WISHES = "Take your time, tell me what you find, and leave everything else as it is today.";

/** Eight requests; each reads a file of its own, the last one the first file again. */
export function smallSession() {
  const session = createSessionBuilder("small");
  for (let at = 0; at < 8; at++) {
    const path = `src/part-${at % 7}.ts`;
    const text = `Request ${at}: please have a look at what the next file says. ${WISHES}`;
    if (at === 0) session.userWithConstraint(`${text} ${RULE}`, RULE);
    else session.user(text);
    const output = `${FILLER}\nsee src/part-${at + 1}.ts for more of the same thing\n${FILLER}`;
    session.calls("I look.", [{ name: "read", args: { path }, output }]);
    // The last call is the one that goes back to the first file.
    if (at < 7) session.reply(`That was number ${at}.`);
  }
  return session.finish();
}

/** Under a budget that holds a bit more than half of the session. */
export async function smallFrame(promptBudget = 1600): Promise<Frame> {
  const script = readScript(smallSession());
  const table = createShownTable(script, await loadExactCounter());
  const requests = script.calls.map(({ history }, call): SentRequest => {
    const messages = script.messages.slice(0, history).map(stored);
    return { call, shown: messages.map((message) => table.of(message, history)) };
  });
  const passThrough = { requests, fixedTokens: 10 };
  return planFrame({ script, table, passThrough, promptBudget, reserveTokens: 0 });
}

/** As a host hands a message out that it stored. */
const stored = (message: AgentMessage, at: number) => withMessageId(message, `m${at}`);

/** What each call sends unless a test changes it: everything. */
export const everything = ({ calls }: Frame): JudgedRequest[] =>
  calls.map((one, call) => ({ call, shown: one!.whole, recall: undefined }));

/** Where the requests of a test go. */
export const SMALL_ROUTE = {
  provider: "anthropic",
  api: "anthropic-messages",
  id: "claude-opus-4-6",
};

/** The figures of requests a test made. */
export async function judged(frame: Frame, requests: readonly JudgedRequest[]) {
  const judge = createJudge(frame, SMALL_ROUTE);
  for (const request of requests) await judge.see(request);
  const score = judge.score();
  const sum = addTallies([score.tally]);
  const figures = Object.fromEntries(
    MEASURES.map((measure) => [measure.id, figureOf(sum, { ...measure, least: 1 })]),
  ) as Record<MeasureId, number | undefined>;
  return { figures, score };
}

/** A message nobody said, as an engine would send it. */
export const made = ({ table, script }: Frame, content: string): Shown =>
  table.of({ role: "user", content }, script.messages.length);

/** The same message with another text. */
export function reworded({ table }: Frame, { message }: Shown, text: string): Shown {
  return table.of({ ...message, content: [{ type: "text", text }] } as AgentMessage, 0);
}
