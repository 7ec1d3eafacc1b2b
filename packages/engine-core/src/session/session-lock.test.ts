import { describe, expect, it } from "vitest";
import { callTool, testHost, tools } from "../__fixtures__/host.ts";

describe("one session", () => {
  it("runs three turns that come at once one after the other, each message once", async () => {
    const host = testHost({ replies: [({ messages }) => `reply ${messages.length}`] });
    const results = await Promise.all(["a", "b", "c"].map((text) => host.say(text)));
    expect(results.map(({ outcome }) => outcome)).toEqual(["completed", "completed", "completed"]);
    expect(
      host.ports.transcript.entries.map((entry) =>
        entry.type === "message" && entry.message.role === "user" ? entry.message.content : "reply",
      ),
    ).toEqual(["a", "reply", "b", "reply", "c", "reply"]);
  });

  it("refuses a second turn where the host wants that, with a code", async () => {
    const host = testHost();
    const first = host.say("a");
    await expect(host.say("b", { whenBusy: "refuse" })).rejects.toMatchObject({
      code: "SESSION_LOCKED",
    });
    expect((await first).outcome).toBe("completed");
    expect((await host.say("c", { whenBusy: "refuse" })).outcome).toBe("completed");
  });

  it("does not wait for itself when a tool asks for another turn", async () => {
    const host = testHost({
      replies: [callTool("nest"), "done"],
      tools: tools({
        nest: () =>
          host.say("inner").then(
            () => "ran",
            (error: { code: string }) => error.code,
          ),
      }),
    });
    await host.say("outer");
    expect(host.lastSeen()).toContain("toolResult: SESSION_LOCKED");
  });

  it("lets what a turn left behind ask for a turn when that one is over", async () => {
    let later: Promise<string> | undefined;
    let over = () => {};
    const isOver = new Promise<void>((resolve) => {
      over = resolve;
    });
    const host = testHost({
      replies: [callTool("leave"), "done"],
      tools: tools({
        leave: () => {
          later = isOver.then(() => host.say("later")).then(({ outcome }) => outcome);
          return "left";
        },
      }),
    });
    await host.say("first");
    over();
    expect(await later).toBe("completed");
  });

  it("keeps the place and the message of a turn that is aborted while it waits", async () => {
    const host = testHost({ replies: [() => new Promise((done) => setTimeout(done, 5, "ok"))] });
    const stop = new AbortController();
    const first = host.say("a");
    const second = host.say("b", { signal: stop.signal });
    stop.abort();
    expect((await first).outcome).toBe("completed");
    expect((await second).outcome).toBe("aborted");
    expect(host.ports.transcript.entries.at(-1)).toMatchObject({ message: { content: "b" } });
  });
});
