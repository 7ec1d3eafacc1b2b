import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { SESSION, startLife } from "../testing/life.ts";
import { sessionFile } from "../testing/session-file.ts";
import { withIds } from "../testing/stored.ts";

describe("identity at ingest", () => {
  it("1. the same entry told twice is one row, and the same text under a new id is another", async () => {
    const { tell, texts } = startLife();
    expect(await tell(withIds([user("hello")]))).toBe(1);
    expect(await tell(withIds([user("hello")]))).toBe(0);
    expect(await tell(withIds([user("hello")], "new"))).toBe(1);
    expect(texts()).toEqual(["hello", "hello"]);
  });

  it("2. ten equal short turns all stay", async () => {
    const { tell, stored } = startLife();
    for (let turn = 0; turn < 10; turn++)
      await tell(withIds([user("ok"), assistant("done")], `t${turn}-`));
    expect(stored()).toHaveLength(20);
  });

  it("3. a restart that tells the whole history again adds only what is new", async () => {
    const first = startLife();
    const history = withIds([user("one"), assistant("two"), user("three")]);
    await first.tell(history.slice(0, 2));
    const second = await first.again();
    expect(await second.tell(history)).toBe(1);
    expect(second.texts()).toEqual(["one", [{ type: "text", text: "two" }], "three"]);
  });

  it("4. a turn that is told by the loop and again at its end is there once", async () => {
    const { engine, tell, stored } = startLife();
    const turn = withIds([user("do it"), assistant("done")]);
    await tell(turn);
    const call = { ...SESSION, messages: turn, prePromptMessageCount: 0, sessionFile: "none" };
    await engine.afterTurn!(call);
    await engine.afterTurn!(call);
    expect(stored()).toHaveLength(2);
  });

  it("5. a message that its host appended again is the first one, and a real repeat is kept", async () => {
    const { tell, stored } = startLife();
    const [said] = withIds([user("again")]);
    const appendedAgain = { ...said!, timestamp: said!.timestamp! + 1 };
    expect(await tell([said!, appendedAgain])).toBe(1);
    expect(await tell(withIds([user("again")], "real"))).toBe(1);
    expect(stored()[0]!.message).toEqual(said);
  });

  it("6. a burst of equal results and of equal requests in one moment is kept, every one", async () => {
    const { tell } = startLife();
    const results = Array.from({ length: 40 }, () => toolResult(toolCall("wait"), "ready"));
    expect(await tell(withIds(results, "r"))).toBe(40);
    expect(await tell(withIds(Array(40).fill(user("go on")), "u"))).toBe(40);
  });

  it("7. ids that a model gives its calls recur, and name no message", async () => {
    const { tell, stored } = startLife();
    const exec = toolCall("bash", { command: "ls" }, "exec:1");
    for (const turn of ["a", "b", "c"])
      await tell(withIds([assistant([exec]), toolResult(exec, `files of ${turn}`)], turn));
    expect(stored()).toHaveLength(6);
  });

  it("8. copies of one message that a host redacted, stamped or respaced are one row, as first told", async () => {
    const { tell, stored } = startLife();
    const [said] = withIds([user("my  key is 12345")]);
    await tell([said!]);
    for (const content of ["my key is 12345", "my  key is *****", "[10:04] my  key is 12345"])
      expect(await tell([{ ...said!, role: "user", content }])).toBe(0);
    expect(stored().map(({ message }) => message)).toEqual([said]);
  });

  it("9. another message is never merged, however alike its words are", async () => {
    const { tell } = startLife();
    const alike = ["pay 10", "pay 10 ", "pay 100", "[10:04] pay 10"].map((text) =>
      user(text, { timestamp: 7 }),
    );
    expect(await tell(withIds(alike))).toBe(4);
  });

  it("10. a copy of an answer that its host marks as a delivery is kept under its own id alone", async () => {
    const { engine, tell, stored } = startLife();
    const [answer, mirror] = withIds([
      assistant("It is done."),
      assistant("It is done.", { model: "delivery-mirror" }),
    ]);
    await tell([answer!, mirror!]);
    expect(await tell([mirror!])).toBe(0);
    // What a model is shown is the host's history: it leaves the copy out, or does not.
    const { messages } = await engine.assemble({
      ...SESSION,
      ...{ messages: [answer!], tokenBudget: 9_000 },
    });
    expect([stored().length, messages]).toEqual([2, [answer]]);
  });

  it("11. a result that was shortened, or stored elsewhere since, is still known", async () => {
    const { engine, tell, stored } = startLife();
    const file = sessionFile();
    const call = toolCall("read");
    file.say(user("look"), assistant([call]), toolResult(call, "all of it ".repeat(900)));
    await engine.bootstrap!({ ...SESSION, sessionFile: file.path });
    const whole = stored()[2]!.message;
    expect(await tell([{ ...toolResult(call, "cut"), __openclaw: whole.__openclaw! }])).toBe(0);
    expect(stored()[2]!.message).toEqual(whole);
  });
});
