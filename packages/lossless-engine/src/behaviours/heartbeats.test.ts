import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { isOwn } from "../messages/own.ts";
import { SESSION, startLife } from "../testing/life.ts";
import { withIds } from "../testing/stored.ts";

const HEARTBEAT = "Read HEARTBEAT.md if it exists. You must always answer HEARTBEAT_OK.";
const idle = (number: number) =>
  withIds([user(HEARTBEAT), assistant("HEARTBEAT_OK")], `idle${number}-`);

describe("runs that a host begins by itself", () => {
  it("that had nothing to say are stored and found, and no view shows or quotes them", async () => {
    const { engine, stored } = startLife();
    const history = [];
    for (let number = 0; number < 60; number++) {
      const isHeartbeat = number % 5 !== 0;
      const said = `Always use port ${number}. ${"lorem ".repeat(300)}`;
      const turn = isHeartbeat
        ? idle(number)
        : withIds([user(said), assistant("ipsum ".repeat(200))], `t${number}-`);
      history.push(...turn);
      const prePromptMessageCount = history.length - 2;
      await engine.afterTurn!({
        ...SESSION,
        ...{ sessionFile: "none", messages: history, prePromptMessageCount, isHeartbeat },
      });
    }
    expect(stored()).toHaveLength(120);
    const of = { ...SESSION, messages: [...history, user("And now?")] };
    const whole = await engine.assemble({ ...of, tokenBudget: 200_000 });
    expect(whole.messages).toEqual(
      of.messages.filter((one) => !/idle/.test(String(one.__openclaw?.id))),
    );
    for (const messages of [of.messages, history]) {
      const { messages: view } = await engine.assemble({ ...of, messages, tokenBudget: 4_000 });
      expect(isOwn(view[0]!)).toBe(true);
      expect(JSON.stringify(view)).not.toContain("HEARTBEAT");
      expect(JSON.stringify(view[0])).toContain("Always use port");
    }
    expect(await engine.compact({ ...SESSION, tokenBudget: 8_000, force: true })).toMatchObject({
      compacted: true,
      result: { summary: expect.not.stringContaining("HEARTBEAT") },
    });
  });

  it("that did something are shown while they are new, and never pinned", async () => {
    const { engine } = startLife();
    const call = toolCall("read", { path: "HEARTBEAT.md" });
    const answer = assistant("I moved two files. You must never delete logs/.");
    const turn = withIds([user(HEARTBEAT), assistant([call]), toolResult(call, "move"), answer]);
    await engine.ingestBatch!({ ...SESSION, messages: turn, isHeartbeat: true });
    const more = [user("Never touch prod."), assistant("ok ".repeat(4_000)), user("Go on.")];
    const messages = [...turn, ...withIds(more, "later")];
    expect((await engine.assemble({ ...SESSION, messages, tokenBudget: 64_000 })).messages).toEqual(
      messages,
    );
    const { messages: view } = await engine.assemble({ ...SESSION, messages, tokenBudget: 3_000 });
    expect(JSON.stringify(view)).toContain("Never touch prod.");
    expect(JSON.stringify(view)).not.toMatch(/always answer|never delete/);
  });

  it("are shown while they run, and where there is nothing else", async () => {
    const { engine, tell } = startLife();
    const [prompt, ack] = idle(0);
    await tell(withIds([user("hello"), assistant("hi")]));
    await engine.ingestBatch!({ ...SESSION, messages: [prompt!], isHeartbeat: true });
    const view = async (messages: AgentMessage[]) =>
      (await engine.assemble({ ...SESSION, messages, tokenBudget: 9_000 })).messages;
    const history = [...withIds([user("hello"), assistant("hi")]), prompt!];
    expect(await view(history)).toEqual(history);
    expect(await view([prompt!, ack!])).toEqual([prompt, ack]);
    expect(await view([...history, ack!])).toEqual(history.slice(0, 2));
  });
});
