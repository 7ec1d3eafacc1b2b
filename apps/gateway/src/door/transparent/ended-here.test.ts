// Stops a gateway while clients with a history of their own are being answered.
import { describe, expect, it } from "vitest";
import { DOOR_APIS } from "../../config/door.ts";
import { ask, person, request } from "../../testing/door-client.ts";
import { saidIn } from "../../testing/said-in.ts";
import { startTestDoor } from "../../testing/test-door.ts";
import type { Said } from "../testing/conversation.ts";
import { HELD_WORDS, LAST_WORDS, startHeldUpstream } from "../testing/held-upstream.ts";
import { readReply } from "../testing/read-reply.ts";

const ONE_AT_A_TIME = { runningTurns: 1 };
const streamed = { streaming: true, model: "model" };

async function wordsThen(answer: Response): Promise<() => Promise<string>> {
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes(LAST_WORDS)) text += (await reader.read()).value ?? "";
  return async () => {
    for (let next = await reader.read(); !next.done; next = await reader.read()) text += next.value;
    return text;
  };
}

describe.each(DOOR_APIS)("a gateway that stops while it answers by %s", (api) => {
  it("lets the reply come to its end within the time that turns have", async () => {
    const upstream = await startHeldUpstream();
    const door = await startTestDoor(upstream);
    const answer = await request(door, api, [person("Why?")], streamed);
    const stream = await upstream.asked();
    const rest = await wordsThen(answer);
    const closed = door.gateway.close({ graceMs: 20_000 });
    stream.finish();
    await closed;
    expect(readReply(api, await rest(), "text/event-stream").last.type).toBe("done");
    const session = answer.headers.get("x-clew-session")!;
    expect(await saidIn(door, session)).toEqual(["user: Why?", `assistant: ${HELD_WORDS}`]);
  });

  it("ends one that takes longer than turns may, and keeps what had arrived", async () => {
    const upstream = await startHeldUpstream();
    const door = await startTestDoor(upstream, {
      settings: { agents: { defaults: { timeoutSeconds: 1 } }, gateway: { limits: ONE_AT_A_TIME } },
    });
    const answer = await request(door, api, [person("Why?")], streamed);
    const session = answer.headers.get("x-clew-session")!;
    await upstream.asked();
    const next = ask(door, api, [person("And who?")], streamed);
    const rest = await wordsThen(answer);
    const { last } = readReply(api, await rest(), "text/event-stream");
    expect(JSON.stringify(last)).toContain("agents.defaults.timeoutSeconds");
    (await upstream.asked()).finish();
    expect((await next).error).toBe(null);
    await door.gateway.door.settled();
    const arrived = ["user: Why?", `assistant: ${HELD_WORDS} (aborted)`];
    expect(await saidIn(door, session)).toEqual(arrived);
  });

  it("keeps what had arrived, and says why it ended, to the client too", async () => {
    const upstream = await startHeldUpstream();
    const door = await startTestDoor(upstream);
    const answer = await request(door, api, [person("Why?")], streamed);
    const stream = await upstream.asked();
    const rest = await wordsThen(answer);
    await door.gateway.close({ graceMs: 0 });
    await stream.closed;
    const { last } = readReply(api, await rest(), "text/event-stream");
    expect(last).toMatchObject({ type: "error" });
    expect(JSON.stringify(last)).toContain("The program is stopping");
    const session = answer.headers.get("x-clew-session")!;
    const arrived = ["user: Why?", `assistant: ${HELD_WORDS} (aborted)`];
    expect(await saidIn(door, session)).toEqual(arrived);
    const { calls } = (await (await door.gateway.inspect(session)).calls({ limit: 1 }))!;
    expect(calls[0]).toMatchObject({ error: expect.stringContaining("The program is stopping") });
    await door.stop();

    // What its client has of it is known by what it says next.
    const again = await startTestDoor(upstream, { home: door.home });
    const asked = async (said: readonly Said[]) => {
      const next = ask(again, api, said, streamed);
      (await upstream.asked()).finish();
      expect((await next).answer.headers.get("x-clew-session")).toBe(session);
      await again.gateway.door.settled();
      return saidIn(again, session);
    };
    const model = (text: string): Said => ({ uid: null, by: "model", text, calls: [] });
    expect(await asked([person("Why?")])).toEqual(["user: Why?", `assistant: ${HELD_WORDS}`]);
    expect(await asked([person("Why?"), model(HELD_WORDS), person("And now?")])).toEqual([
      ...["user: Why?", `assistant: ${HELD_WORDS}`, "user: And now?", `assistant: ${HELD_WORDS}`],
    ]);
  });

  it("stores what arrived once where its client goes on from it", async () => {
    const upstream = await startHeldUpstream();
    const door = await startTestDoor(upstream);
    const answer = await request(door, api, [person("Why?")], streamed);
    await upstream.asked();
    const rest = await wordsThen(answer);
    const session = answer.headers.get("x-clew-session")!;
    await door.stop();
    await rest();
    const again = await startTestDoor(upstream, { home: door.home });
    const part: Said = { uid: null, by: "model", text: HELD_WORDS, calls: [] };
    const next = ask(again, api, [person("Why?"), part, person("Go on.")], streamed);
    (await upstream.asked()).finish();
    expect((await next).answer.headers.get("x-clew-session")).toBe(session);
    await again.gateway.door.settled();
    expect(await saidIn(again, session)).toEqual([
      ...["user: Why?", `assistant: ${HELD_WORDS} (aborted)`],
      ...["user: Go on.", `assistant: ${HELD_WORDS}`],
    ]);
  });

  it("tells the client of a session that waits for a whole reply", async () => {
    const upstream = await startHeldUpstream();
    const settings = { agents: { defaults: { model: "chat/model" } } };
    const door = await startTestDoor(upstream, { settings });
    const waiting = ask(door, api, [person("Why?")], { session: "work" });
    await upstream.asked();
    await door.gateway.close({ graceMs: 0 });
    const { answer, body } = await waiting;
    expect(answer.status).toBe(503);
    expect(body).toContain("stopping");
  });
});
