import { conversation, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { expect, it } from "vitest";
import { SESSION, startLife } from "../testing/life.ts";
import { costOf, type StatementCosts } from "../testing/statement-costs.ts";
import { withIds } from "../testing/stored.ts";

const WINDOW = 60;
const TOKENS = 24_000;

const turn = (prefix: string) =>
  withIds([user("ask"), toolResult(toolCall("read"), "said by a tool"), user("thanks")], prefix);

/** What a session of so many messages costs: the same questions of each. */
async function costsAt(messages: number): Promise<Record<string, StatementCosts>> {
  const life = startLife();
  const history = withIds(conversation({ turns: messages / 4, tools: 1, toolResultChars: 300 }));
  for (let at = 0; at < history.length; at += 1_000) await life.tell(history.slice(at, at + 1_000));
  const { engine } = life;
  const window = history.slice(-WINDOW);
  const show = (shown: typeof history) =>
    engine.assemble({ ...SESSION, messages: shown, tokenBudget: TOKENS });
  // Behind a reply, where the indexes may take as long as they need.
  await engine.maintain!({
    ...{ ...SESSION, runtimeContext: { allowDeferredCompactionExecution: true } },
  });
  await show(history);
  await life.tell(turn("settled"));
  const costs = {
    turn: await costOf(() => life.tell(turn("t"))),
    window: await costOf(() => show(window)),
    whole: await costOf(() => show(history)),
  };
  await engine.dispose!();
  return { ...costs, restart: await costOf(() => show(window)) };
}

it("ten times as many messages cost a turn, a view and a restart no more statements and rows", {
  timeout: 60_000,
}, async () => {
  const [short, long] = [await costsAt(1_000), await costsAt(10_000)];
  for (const [what, { statements, rows }] of Object.entries(short)) {
    expect(statements, what).toBeGreaterThan(0);
    expect(long[what]!.statements, what).toBeLessThanOrEqual(statements + 3);
    expect(long[what]!.rows, what).toBeLessThanOrEqual(rows + 3);
  }
});
