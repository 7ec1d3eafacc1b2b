import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { countMessage, type ExactCounter, loadExactCounter } from "@clew/plugin-sdk/tokens";
import { pairToolCalls } from "@clew/plugin-sdk/transcript";
import * as fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { isOwn } from "../messages/own.ts";
import { SESSION, startLife } from "../testing/life.ts";
import { sessionFile } from "../testing/session-file.ts";
import { withIds } from "../testing/stored.ts";

/** What a host does to what it hands to an engine. */
interface Habit {
  /** How it shows a message that it stored. Absent: as it is. */
  show?(message: AgentMessage): AgentMessage;
  /** True: calls of every turn have the same ids. Absent: false. */
  reusesCallIds?: true;
  /** True: within a turn it hands over the last view and what came since. Absent: everything. */
  feedsViewsBack?: true;
  /** True: it disposes of the engine after every turn. Absent: at its end. */
  disposesEachTurn?: true;
  /** True: it keeps no session file. Absent: it does. */
  hasNoFile?: true;
}

const stripped = (message: AgentMessage): AgentMessage => {
  if (message.role !== "toolResult") return message;
  const { details: _, ...rest } = message;
  return rest;
};

/** Some providers allow no more than letters and digits. */
const renumbered = (message: AgentMessage): AgentMessage => {
  const plain = (id: string) => id.replace(/\W/g, "");
  if (message.role === "toolResult") return { ...message, toolCallId: plain(message.toolCallId) };
  if (message.role !== "assistant") return message;
  const content = message.content.map((block) =>
    block.type === "toolCall" ? { ...block, id: plain(block.id) } : block,
  );
  return { ...message, content };
};

const capped = (message: AgentMessage): AgentMessage => {
  if (message.role !== "toolResult") return message;
  const content = message.content.map((block) =>
    block.type === "text" ? { ...block, text: block.text.slice(0, 1_500) } : block,
  );
  return { ...message, content };
};

const nameless = ({ __openclaw: _, ...rest }: AgentMessage) => rest as AgentMessage;

const HABITS: Record<string, Habit> = {
  "hands over all it has": {},
  "reuses the ids of calls": { reusesCallIds: true },
  "strips the details of results": { show: stripped },
  "caps results": { show: capped },
  "gives calls other ids": { show: renumbered },
  "gives messages no ids": { show: nameless },
  "hands the engine's views back": { feedsViewsBack: true },
  "disposes of the engine every turn": { disposesEachTurn: true },
  "keeps no session file": { hasNoFile: true },
  "does all of it": {
    show: (message) => stripped(capped(renumbered(message))),
    ...{ reusesCallIds: true, feedsViewsBack: true, disposesEachTurn: true, hasNoFile: true },
  },
  "does all of it and gives no ids": {
    show: (message) => nameless(stripped(capped(renumbered(message)))),
    ...{ reusesCallIds: true, feedsViewsBack: true, disposesEachTurn: true, hasNoFile: true },
  },
};

/** By size in characters: the request, the results of each step, the answer. */
const turns = fc.array(
  fc.record({
    ask: fc.integer({ min: 10, max: 600 }),
    steps: fc.array(fc.array(fc.integer({ min: 10, max: 5_000 }), { minLength: 1, maxLength: 3 }), {
      maxLength: 6,
    }),
    answer: fc.integer({ min: 10, max: 900 }),
  }),
  { minLength: 6, maxLength: 14 },
);
type Turn = typeof turns extends fc.Arbitrary<readonly (infer One)[]> ? One : never;

/** Of which every host has to hide something. */
const LONG = Array.from(
  { length: 8 },
  (): Turn => ({
    ...{ ask: 90, answer: 300 },
    steps: [[2_000, 3_000], [1_500], [4_000]],
  }),
);
const BUDGET = 9_000;
const LINE = "export const read = (path: string): string => path;";

/** What is said in a turn, step by step: after each the model is asked. */
function said({ ask, steps, answer }: Turn, number: number, { reusesCallIds }: Habit) {
  const texts = (size: number, what: string) =>
    [`${what} of turn ${number}:`, ...Array(Math.floor(size / LINE.length)).fill(LINE)].join("\n");
  const working = steps.map((sizes, step) => {
    const calls = sizes.map((_, index) => {
      const id = reusesCallIds ? `call:${step}.${index}` : `call:${number}.${step}.${index}`;
      return toolCall("read", { path: `src/part${number}/${step}.ts` }, id);
    });
    const results = calls.map((call, index) =>
      toolResult(call, texts(sizes[index]!, `line ${step}.${index}`), { details: { number } }),
    );
    return [assistant(calls), ...results];
  });
  const all = [[user(texts(ask, "Request"))], ...working, [assistant(texts(answer, "Answer"))]];
  let place = 0;
  return all.map((messages) =>
    withIds(messages, `t${number}.${place++}-`).map((message, index) => ({
      ...message,
      timestamp: 1_000_000 * number + 1_000 * place + index,
    })),
  );
}

/** Everything that must never be. `history`: what the engine could have been shown. */
function faultsOf(
  view: readonly AgentMessage[],
  history: readonly AgentMessage[],
  exact: ExactCounter,
): string[] {
  const given = view.filter((message) => !isOwn(message));
  const wires = history.map((message) => JSON.stringify(message));
  const places = given.map((message) => wires.indexOf(JSON.stringify(message)));
  const request = history.findLastIndex(({ role }) => role === "user");
  const tokens = view.reduce((sum, message) => sum + countMessage(message, exact), 0);
  const pairs = pairToolCalls(view);
  const faults = {
    "over budget": tokens > BUDGET,
    unpaired: pairs.orphanResults.length + pairs.unanswered.length > 0,
    altered: places.includes(-1),
    "twice or out of order": places.some((place, at) => at > 0 && place <= places[at - 1]!),
    "request missing": !places.includes(request),
    "newest missing": places.at(-1) !== history.length - 1,
    "no marker": given.length < history.length && !isOwn(view[0]!),
    "record twice": view.filter(isOwn).length > 1,
  };
  return Object.entries(faults).flatMap(([fault, is]) => (is ? [fault] : []));
}

/** Plays turns as such a host does; every fault of every view, and how many hid something. */
async function play(plan: readonly Turn[], habit: Habit, exact: ExactCounter) {
  const { engine, stored } = startLife();
  const { show = (message: AgentMessage) => message } = habit;
  const file = habit.hasNoFile ? undefined : sessionFile(SESSION.sessionId);
  const where = { ...SESSION, ...(file !== undefined && { sessionFile: file.path }) };
  const history: AgentMessage[] = [];
  const faults: string[] = [];
  let hiding = 0;
  for (const [number, turn] of plan.entries()) {
    if (file !== undefined) await engine.bootstrap!({ ...where, sessionFile: file.path });
    const before = history.length;
    let handed = history.map(show);
    for (const messages of said(turn, number, habit)) {
      history.push(...messages);
      const fresh = structuredClone(messages).map(show);
      handed = habit.feedsViewsBack ? [...handed, ...fresh] : history.map(show);
      if (messages.at(-1)!.role === "assistant") break;
      const view = await engine.assemble({ ...SESSION, messages: handed, tokenBudget: BUDGET });
      faults.push(...faultsOf(view.messages, history.map(show), exact));
      if (view.messages.some(isOwn)) hiding++;
      if (habit.feedsViewsBack) handed = structuredClone(view.messages);
    }
    for (const message of history.slice(before)) file?.append({ type: "message", message });
    await engine.afterTurn!({
      ...where,
      messages: history.map(show),
      prePromptMessageCount: before,
    });
    if (habit.disposesEachTurn) await engine.dispose?.();
  }
  return { faults, hiding, said: history, stored: stored() };
}

describe("a host that", () => {
  let exact: ExactCounter;
  beforeAll(async () => {
    exact = await loadExactCounter();
  });

  it.each(Object.entries(HABITS))(
    "%s is shown views without any fault, and has every message stored once",
    async (_, habit) => {
      let hiding = 0;
      await fc.assert(
        fc.asyncProperty(turns, async (plan) => {
          const played = await play(plan, habit, exact);
          expect(played.faults).toEqual([]);
          expect(played.stored).toHaveLength(played.said.length);
          hiding += played.hiding;
        }),
        { examples: [[LONG]], numRuns: fc.readConfigureGlobal().numRuns! / 20 },
      );
      expect(hiding).toBeGreaterThan(0);
    },
  );
});
