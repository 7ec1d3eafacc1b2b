import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { DoorOutlet } from "../call/door-call.ts";
import type { ReplyPeek } from "../upstream/peek-reply.ts";
import { holdReply, passHeld } from "./hold-reply.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const MESSAGE = { role: "assistant", content: [], stopReason: "stop" } as const;
const peek: ReplyPeek = {
  push: async () => undefined,
  end: async () => ({ message: { ...MESSAGE, content: [] } }),
};

function outlet() {
  const got = { text: "", begun: 0, ended: false };
  const written: DoorOutlet = {
    gone: new AbortController().signal,
    lost: new AbortController().signal,
    get hasBegun() {
      return got.begun > 0;
    },
    begin() {
      got.begun++;
    },
    async write(bytes) {
      got.text += new TextDecoder().decode(bytes);
    },
    end() {
      got.ended = true;
    },
    hasTaken: async () => {},
    breakOff: () => {},
  };
  return Object.assign(got, { outlet: written });
}

async function* slowly(release: Promise<unknown>) {
  yield encode("data: 1\n\n");
  await release;
  yield encode("data: 2\n\n");
}

describe("a reply that is held", () => {
  it.each([
    ["text/event-stream", true],
    ["application/json", false],
  ])("tells a client of %s that it lives, and comes whole behind: %s", async (type, isTold) => {
    const to = outlet();
    const until = isTold
      ? (async () => {
          while (!to.text.includes(": waiting")) await sleep(1);
        })()
      : sleep(30);
    const answer = {
      status: 200,
      headers: [["content-type", type]] as const,
      bytes: slowly(until),
    };
    const held = await holdReply(answer, to.outlet, { peek, maxBytes: 100, named: [], idleMs: 5 });
    expect(to.text).not.toContain("data");
    expect(to.begun).toBe(isTold ? 1 : 0);
    await passHeld(held, to.outlet, []);
    expect(to.begun).toBe(1);
    expect(to.text.replaceAll(": waiting\n\n", "")).toBe("data: 1\n\ndata: 2\n\n");
    expect(to.ended).toBe(true);
  });

  it("is broken off where it is longer than what is read of a reply", async () => {
    const to = outlet();
    const answer = { status: 200, headers: [], bytes: slowly(Promise.resolve()) };
    const held = await holdReply(answer, to.outlet, { peek, maxBytes: 10, named: [] });
    expect(held.end).toBe("broken");
  });
});
