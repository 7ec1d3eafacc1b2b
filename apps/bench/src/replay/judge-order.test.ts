import type { AgentMessage } from "@clew/plugin-sdk/core";
import { assistant, toolCall, toolResult, user } from "@clew/plugin-sdk/testing";
import { withMessageId } from "@clew/plugin-sdk/transcript";
import { describe, expect, it } from "vitest";
import { made, smallFrame } from "./__fixtures__/small-session.ts";
import { orderFaults } from "./judge-order.ts";
import type { Shown } from "./shown.ts";

const NONE = { isDisordered: false, isUnpaired: false, lacksNewest: false, isUnmarked: false };

/** The whole history of the small session's last call. */
async function wholeHistory() {
  const frame = await smallFrame();
  const full = frame.calls.at(-1)!.full;
  return { frame, full, record: made(frame, "What went before.") };
}

const faultsOf = (full: readonly Shown[], shown: readonly Shown[]) =>
  Object.entries(orderFaults(full, shown)).flatMap(([fault, is]) => (is ? [fault] : []));

describe("the order of a request", () => {
  it("has no fault where all is shown, and where a record stands for what is not", async () => {
    const { full, record } = await wholeHistory();
    expect(orderFaults(full, full)).toEqual(NONE);
    const from = full.findLastIndex(({ message }) => message.role === "user");
    expect(orderFaults(full, [record, ...full.slice(from)])).toEqual(NONE);
    expect(faultsOf(full, full.slice(from))).toEqual(["isUnmarked"]);
  });

  it("is faulty with a message that is there twice, moved or rewritten", async () => {
    const { frame, full } = await wholeHistory();
    const [first, second, ...rest] = full as [Shown, Shown, ...Shown[]];
    const rewritten = { ...first, ...made(frame, "Something else."), id: first.id ?? "m0" };
    for (const shown of [
      [first, ...full],
      [second, first, ...rest],
      [rewritten, second, ...rest],
    ])
      expect(faultsOf(full, shown)).toContain("isDisordered");
  });

  it("has no fault where the host numbers calls anew, or joins what a person said in a row", async () => {
    const { frame, record } = await wholeHistory();
    const shownAs = (id: string, asked: readonly AgentMessage[]) => {
      const call = toolCall("read", { path: "a" }, id);
      const messages = [...asked, assistant([call]), toolResult(call, "the text")];
      return messages.map((message) => frame.table.of(message, 0));
    };
    const texts = (...said: string[]) =>
      withMessageId({ role: "user", content: said.map((text) => ({ type: "text", text })) }, "m1");
    const full = shownAs("c1", [texts("stop", "go on")]);
    expect(orderFaults(full, [record, ...shownAs("call1", [texts("go on")])])).toEqual(NONE);
    expect(faultsOf(full, [record, ...shownAs("call1", [texts("go")])])).toEqual(["isDisordered"]);
    expect(faultsOf(full, shownAs("call1", [texts("go on", "stop")]))).toEqual(["isDisordered"]);
  });

  it("is faulty without the newest message, and with a call that lost its result", async () => {
    const { frame, full, record } = await wholeHistory();
    expect(faultsOf(full, [record, ...full.slice(0, -1)])).toContain("lacksNewest");
    const call = toolCall("read", { path: "a" }, "c1");
    const pair = [user("look"), assistant([call]), toolResult(call, "text")].map((message) =>
      frame.table.of(message, 0),
    );
    expect(orderFaults(pair, pair)).toEqual(NONE);
    expect(faultsOf(pair, [record, ...pair.slice(2)])).toEqual(["isUnpaired"]);
  });
});
