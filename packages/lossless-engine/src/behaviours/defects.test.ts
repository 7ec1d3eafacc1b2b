import { statSync } from "node:fs";
import { conversation, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { SESSION, startLife } from "../testing/life.ts";
import { setUpRecall } from "../testing/recall.ts";
import { sessionFile } from "../testing/session-file.ts";
import { costOf } from "../testing/statement-costs.ts";
import { killedBeforeEachStatementOf } from "../testing/statement-kills.ts";
import { withIds } from "../testing/stored.ts";

const history = (turns: number) =>
  withIds(conversation({ turns, tools: 1, toolResultChars: 400 }), "h");

describe("faults of a design with many copies, which this one must not have", () => {
  it("1. a kill leaves no message half stored", async () => {
    const life = startLife();
    await life.tell(withIds([user("before")]));
    const turn = withIds([user("ask"), toolResult(toolCall("read"), "x".repeat(9_000))], "t");
    const copies = await killedBeforeEachStatementOf(life.file, () => life.tell(turn));
    for (const agentDir of copies) {
      const rows = startLife({}, agentDir).stored().length;
      expect([1, 3]).toContain(rows);
    }
  });

  it("2. a first import keeps all of a long history", async () => {
    const [life, file] = [startLife(), sessionFile()];
    file.say(...history(1_000));
    const { importedMessages } = await life.engine.bootstrap!({
      ...SESSION,
      sessionFile: file.path,
    });
    expect([importedMessages, life.stored().length]).toEqual([4_000, 4_000]);
  });

  it("3. a compaction costs no more statements and rows, however long the history is", async () => {
    const cost = async (turns: number) => {
      const life = startLife();
      const messages = history(turns);
      await life.tell(messages);
      await life.engine.assemble({ ...SESSION, messages, tokenBudget: 24_000 });
      const more = [...messages, ...withIds(conversation({ turns: 100, tools: 1 }), "m")];
      return costOf(() =>
        life.engine.assemble({ ...SESSION, messages: more, tokenBudget: 24_000 }),
      );
    };
    const [short, long] = [await cost(200), await cost(2_000)];
    expect(long.statements).toBeLessThanOrEqual(short.statements + 5);
    expect(long.rows).toBeLessThanOrEqual(short.rows + 10);
  });

  it("4. a view asks a few questions, and not one for each message", async () => {
    const life = startLife();
    const messages = history(1_000);
    await life.tell(messages);
    const assemble = () => life.engine.assemble({ ...SESSION, messages, tokenBudget: 24_000 });
    await assemble();
    const { statements, rows } = await costOf(assemble);
    expect(statements).toBeLessThan(120);
    expect(rows).toBeLessThan(120);
  });

  it("5. a text is stored once, whoever says it again, and a database stays near what was told", async () => {
    const life = startLife();
    const text = Array.from({ length: 4_000 }, (_, line) => `line ${line} of it`).join("\n");
    const before = [user("one"), toolResult(toolCall("read"), text)];
    await life.tell(withIds(before));
    const size = () => statSync(life.file).size;
    await life.engine.dispose!();
    const once = size();
    for (let time = 0; time < 20; time++)
      await life.tell(withIds([toolResult(toolCall("read"), text)], `again${time}-`));
    await life.engine.dispose!();
    expect(size() - once).toBeLessThan(2 * text.length);
  });

  it("6. a search by a pattern finds what was said twenty thousand messages ago", async () => {
    const { tell, call } = setUpRecall();
    await tell([
      user("see TICKET-4711"),
      ...Array.from({ length: 20_000 }, (_, at) => user(`n ${at}`)),
    ]);
    const found = await call("lcm_grep", { pattern: "TICKET-\\d{4}", mode: "regex" });
    expect(found).toMatch(/^1 found, newest first\. All 20001 messages were searched\./);
    const without = await call("lcm_grep", { pattern: "q\\dq", mode: "regex" });
    expect(without).toMatch(
      /^Nothing found\. (?:All 20001 messages|Time was up after \d+ of 20001)/,
    );
  });
});
