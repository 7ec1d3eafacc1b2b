import { setTimeout as after } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { listenWithCuts, whatIsHeard } from "../testing/cut-listener.ts";
import { startTestGateway } from "../testing/gateway.ts";
import { heldModel } from "../testing/held-model.ts";
import {
  followTurn,
  piecesOfReplies,
  sayInPieces,
  sendTurn,
  withoutPrompt,
} from "../testing/turn-stream.ts";
import type { StreamedEvent } from "./event-stream.ts";
import { readPlacedEvents } from "./read-events.ts";

async function world(home?: string) {
  const model = await heldModel();
  const { url, stop, gateway } = await startTestGateway(model.config, home);
  const send = (session: string, body: object, since?: string) =>
    sendTurn({ url, session, since }, body);
  const follow = (session: string, since?: string) => followTurn({ url, session, since });
  return { model, url, send, follow, stop, gateway };
}

const all = async (response: Response) => {
  const events: StreamedEvent[] = [];
  const ids: string[] = [];
  for await (const { event, id } of readPlacedEvents(response.body!)) {
    events.push(event);
    ids.push(id);
  }
  return { events, ids };
};
const types = (events: readonly StreamedEvent[]) => events.map(({ type }) => type);

describe("who comes back to a turn", () => {
  it("hears in sum what hears who never left, wherever the connection breaks", async () => {
    const { model, send, follow } = await world();
    let number = 0;
    await fc.assert(
      fc.asyncProperty(
        piecesOfReplies(),
        fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 5 }), { maxLength: 12 }),
        async (steps, sendCuts, followCuts) => {
          const session = `s${number++}`;
          const body = { text: "Go.", idempotencyKey: "k" };
          const whole = all(await send(session, body));
          const first = await model.asked();
          const sender = listenWithCuts({
            ask: (since) => send(session, body, since),
            cuts: sendCuts,
          });
          const follower = listenWithCuts({
            ask: (since) => follow(session, since),
            cuts: followCuts,
          });
          await sayInPieces(model, steps, { first, pauseMs: 1 });
          const { events } = await whole;
          const wanted = whatIsHeard(events);
          expect(whatIsHeard(await sender)).toEqual(wanted);
          // The prompt is told to those who did not send it.
          expect(whatIsHeard(await follower).map(withoutPrompt)).toEqual(wanted);
        },
      ),
      { numRuns: fc.readConfigureGlobal().numRuns! / 10 },
    );
  }, 120_000);

  it("is told of a reply that is over what it missed, once, and nothing after its end", async () => {
    const { model, send, follow } = await world();
    const body = { text: "Go.", idempotencyKey: "k" };
    const response = await send("main", body);
    const reply = await model.asked();
    for (const piece of ["One ", "two ", "three."]) reply.say(piece);
    reply.finish();
    const { events, ids } = await all(response);
    const middle = ids[types(events).indexOf("text")]!;
    for (const again of [await send("main", body, middle), await follow("main", middle)]) {
      const missed = await all(again);
      expect(types(missed.events)).not.toContain("accepted");
      expect(types(missed.events)).not.toContain("restarted");
      expect(missed.events.at(-1)).toEqual(events.at(-1));
    }
    expect((await send("main", body, ids.at(-1))).status).toBe(204);
    expect((await follow("main", ids.at(-1))).status).toBe(204);
  });

  it("to a gateway that was started anew is told that it restarted, and what is stored", async () => {
    const { model, send, stop, gateway } = await world();
    const body = { text: "Go.", idempotencyKey: "k" };
    const response = await send("main", body);
    const reply = await model.asked();
    reply.say("All of it.");
    reply.finish();
    const { events, ids } = await all(response);
    const accepted = events.find((event) => event.type === "accepted");
    const message = events.find((event) => event.type === "message");
    await stop();
    const again = await world(gateway.home);
    const middle = ids[types(events).indexOf("text")]!;
    for (const missed of [
      await all(await again.send("main", body, middle)),
      await all(await again.follow("main", middle)),
    ]) {
      expect(missed.events).toMatchObject([
        { type: "restarted", keeps: accepted?.entryId },
        { type: "message", entryId: message?.entryId },
        { type: "done", outcome: "completed", replyEntryId: message?.entryId },
      ]);
      expect((await again.follow("main", missed.ids.at(-1))).status).toBe(204);
    }
    const first = await all(await again.send("main", body));
    expect(types(first.events)).toEqual(["queued", "accepted", "message", "done"]);
  });

  it("of a turn that goes on hears the turns before it first, as they are stored", async () => {
    const { model, send, follow } = await world();
    const turn = async (text: string) => {
      const response = await send("main", { text });
      const reply = await model.asked();
      reply.say(`${text}!`);
      reply.finish();
      return all(response);
    };
    const one = await turn("one");
    await turn("two");
    const three = all(await send("main", { text: "three" }));
    const reply = await model.asked();
    const following = all(await follow("main", one.ids.at(-1)));
    reply.say("three!");
    reply.finish();
    await three;
    const { events } = await following;
    const told = events.flatMap((event) =>
      event.type === "message" || event.type === "accepted" ? [event] : [],
    );
    expect(told.map(({ type, message }) => `${type} ${message?.role}`)).toEqual([
      ...["message user", "message assistant", "accepted user", "message assistant"],
    ]);
    expect(types(events)).not.toContain("restarted");
  });

  it("is answered in a sentence where there is nothing to tell", async () => {
    const { send, follow, url, model } = await world();
    const nobody = await follow("nobody");
    expect(nobody.status).toBe(404);
    expect((await nobody.json()).error.code).toBe("SESSION_NOT_FOUND");
    const response = await send("main", { text: "Go." });
    (await model.asked()).finish();
    const { ids } = await all(response);
    const idle = await follow("main");
    expect([idle.status, (await idle.json()).error.code]).toEqual([404, "NOT_FOUND"]);
    const unknown = await follow("main", "abc.4.nowhere");
    expect([unknown.status, (await unknown.json()).error.code]).toEqual([404, "NOT_FOUND"]);
    const malformed = await fetch(`${url}/api/sessions/main/stream?lastEventId=x`);
    expect(malformed.status).toBe(400);
    const nameless = await send("main", { text: "Go." }, ids[0]);
    expect([nameless.status, (await nameless.json()).error.code]).toEqual([400, "REQUEST_INVALID"]);
    const command = await send("main", { text: "/status", idempotencyKey: "k" }, ids[0]);
    expect(command.status).toBe(400);
  });

  it("gets all of a reply of which the beginning is remembered no more", async () => {
    const { model, send, follow } = await world();
    const body = { text: "Go.", idempotencyKey: "k" };
    const whole = all(await send("main", body));
    const reply = await model.asked();
    reply.say("Begin ");
    const early = await (async () => {
      for await (const { event, id } of readPlacedEvents((await follow("main")).body!))
        if (event.type === "text") return id;
      throw new Error("it ended");
    })();
    const piece = "x".repeat(64 * 1024);
    for (let count = 0; count < 24; count++) {
      reply.say(piece);
      await after(2);
    }
    const back = [all(await send("main", body, early)), all(await follow("main", early))];
    const fresh = all(await follow("main"));
    reply.say(" end.");
    reply.finish();
    const { events } = await whole;
    const wanted = whatIsHeard(events);
    const text = `Begin ${piece.repeat(24)} end.`;
    expect(wanted.find((event) => event.type === "text")).toEqual({ type: "text", delta: text });
    for (const each of back) {
      const told = (await each).events;
      expect(told[0]).toMatchObject({ type: "restarted" });
      const accepted = wanted.slice(0, 1);
      expect(whatIsHeard([...accepted, ...told])).toEqual(wanted);
    }
    expect(whatIsHeard((await fresh).events).map(withoutPrompt)).toEqual(wanted);
  });
});
