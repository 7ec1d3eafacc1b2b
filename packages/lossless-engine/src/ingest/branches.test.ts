import { type AgentMessage, messageId } from "@clew/plugin-sdk/core";
import { assistant, user } from "@clew/plugin-sdk/testing";
import { describe, expect, it } from "vitest";
import { session, setUpRecall } from "../testing/recall.ts";
import { withIds } from "../testing/stored.ts";

const common = withIds(
  [
    user("The berth of the ferry is seven."),
    assistant("Noted."),
    user("Also, paint it."),
    assistant("Noted."),
  ],
  "c",
);
const left = withIds(
  [user("The berth of the ferry is nine instead."), assistant("Fine."), user("Thanks.")],
  "l",
);
const other = withIds([user("What else is there to do?")], "o");

function setUp() {
  const recall = setUpRecall();
  const show = (messages: readonly AgentMessage[]) =>
    recall.engine.assemble({ ...session, messages: [...messages], tokenBudget: 32_000 });
  const ranked = () => recall.call("lcm_grep", { pattern: "berth ferry", sort: "relevance" });
  return { ...recall, show, ranked };
}

describe("a branch that a session has left", () => {
  it("is no longer found by relevance, and still by its words, labelled, and by its number", async () => {
    const { show, ranked, call } = setUp();
    await show([...common, ...left]);
    expect(await ranked()).toContain("nine instead");
    await show([...common, ...other]);
    expect(await ranked()).not.toContain("nine instead");
    expect(await ranked()).toContain("is seven");
    expect(await call("lcm_grep", { pattern: "berth" })).toMatch(
      /on a branch that was left[^\n]*\n> The berth of the ferry is nine instead\./,
    );
    expect(await call("lcm_describe", { id: messageId(left[0]!)! })).toContain("nine instead");
  });

  it("is found again when the session comes back to it, and the other one is then left", async () => {
    const { show, ranked, call } = setUp();
    await show([...common, ...left]);
    await show([...common, ...other]);
    await show([...common, ...left, ...withIds([user("Go on.")], "n")]);
    expect(await ranked()).toContain("nine instead");
    expect(await call("lcm_grep", { pattern: "what else" })).toContain("on a branch that was left");
  });

  it("is the active one again as soon as a view shows it, whatever was told since a late view", async () => {
    const { show, ranked, call, tell } = setUp();
    await show([...common, ...left]);
    await show(common);
    const more = withIds([user("One more."), assistant("Yes.")], "m");
    await tell([user("One more."), assistant("Yes.")], session, "m");
    await show([...common, ...left, ...more]);
    expect(await ranked()).toContain("nine instead");
    expect(await call("lcm_grep", { pattern: "berth" })).not.toContain("branch that was left");
  });

  it("is noticed where the request of the other one is told before it is shown", async () => {
    const { show, ranked, call, tell } = setUp();
    await show([...common, ...left]);
    await tell([user("What else is there to do?")], session, "o");
    await show([...common, ...other]);
    expect(await ranked()).not.toContain("nine instead");
    expect(await call("lcm_grep", { pattern: "nine" })).toContain("on a branch that was left");
    const back = withIds([user("Go on.")], "n");
    await tell([user("Go on.")], session, "n");
    await show([...common, ...left, ...back]);
    expect(await ranked()).toContain("nine instead");
    expect(await call("lcm_grep", { pattern: "what else" })).toContain("on a branch that was left");
  });

  it("holds no replies that a host only keeps out of sight", async () => {
    const { show, call, tell } = setUp();
    const [asked] = withIds([user("Paint the ferry green.")], "q");
    await tell([user("Paint the ferry green."), assistant("I began with")], session, "q");
    await tell([user("Go on.")], session, "n");
    await show([...common, asked!, ...withIds([user("Go on.")], "n")]);
    expect(await call("lcm_grep", { pattern: "began" })).not.toContain("branch that was left");
  });

  it("marks nothing while a session only grows, and nothing in another session", async () => {
    const { engine, show, ranked, tell, call } = setUp();
    await show(common.slice(0, 2));
    const elsewhere = { sessionId: "s2", sessionKey: "agent:main:other" };
    await tell([user("The berth of the other ferry is one.")], elsewhere, "x");
    await engine.ingestBatch?.({ ...session, messages: common });
    await show([...common, ...other]);
    await show([...common, ...other, ...withIds([assistant("Nothing.")], "p")]);
    expect(await ranked()).toContain("is seven");
    const everything = await call("lcm_grep", {
      pattern: ".",
      mode: "regex",
      allConversations: true,
    });
    expect(everything).not.toContain("on a branch");
  });
});

describe("two requests in a row, of which a host makes one message", () => {
  it("are on no branch that was left", async () => {
    const { show, tell, call } = setUp();
    await tell([user("First."), assistant("Yes.")], session, "c");
    // It was never answered: the process was killed.
    await tell([user("The second says walrus.")], session, "two");
    await tell([user("The third says ibex.")], session, "three");
    const before = withIds([user("First."), assistant("Yes.")], "c");
    const [both] = withIds([user("The second says walrus.\n\nThe third says ibex.")], "two");
    await show([...before, both!]);
    await tell([assistant("Both, then.")], session, "reply");
    const [reply] = withIds([assistant("Both, then.")], "reply");
    await show([...before, both!, reply!, ...withIds([user("And now?")], "n")]);
    for (const sort of ["recency", "relevance"]) {
      const found = await call("lcm_grep", { pattern: "ibex", sort });
      expect(found).toContain("The third says ibex.");
      expect(found).not.toContain("left");
    }
  });
});
