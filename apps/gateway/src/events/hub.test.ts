import { createParser } from "eventsource-parser";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createEventHub, type EventHub, type EventHubOptions } from "./hub.ts";
import { createRing } from "./ring.ts";
import type { GatewayEvent } from "./shapes.ts";

const decoder = new TextDecoder();
const SESSION = "agent:main:main";
const notice = (text: string) => ({ type: "notice" as const, session: SESSION, text });

/** Reads as often as it is asked to. */
function reader(hub: EventHub, request: Parameters<EventHub["follow"]>[0] = {}) {
  const stream = hub.follow(request).getReader();
  const events: GatewayEvent[] = [];
  let lastId = "";
  const parser = createParser({
    onEvent({ id, data }) {
      lastId = id ?? lastId;
      if (data !== "") events.push(JSON.parse(data) as GatewayEvent);
    },
  });
  return {
    events,
    lastId: () => lastId,
    leave: () => stream.cancel(),
    async read(): Promise<boolean> {
      const { value, done } = await stream.read();
      parser.feed(decoder.decode(value));
      return !done;
    },
    async until(text: string) {
      const isThere = () => events.some((event) => event.type === "notice" && event.text === text);
      while (!isThere()) await this.read();
    },
  };
}

const texts = (events: readonly GatewayEvent[]) =>
  events.flatMap((event) => (event.type === "notice" ? [event.text] : []));

describe("a ring of events", () => {
  it("keeps the newest within its bounds, under numbers that never come again", () => {
    const sizes = fc.array(fc.oneof(fc.integer({ min: 0, max: 40 }), fc.constant("skip" as const)));
    fc.assert(
      fc.property(sizes, (steps) => {
        const ring = createRing({ maxEvents: 5, maxBytes: 100 });
        const told: (Uint8Array | undefined)[] = [];
        for (const step of steps) {
          if (step === "skip") ring.skip();
          else ring.add({ sessions: null, bytes: new Uint8Array(step) });
          if (step === "skip") told.fill(undefined);
          told.push(step === "skip" ? undefined : ring.get(told.length + 1)?.bytes);
          expect(ring.newest()).toBe(told.length);
        }
        const kept = told
          .map((_, index) => ring.get(index + 1))
          .filter((each) => each !== undefined);
        expect(kept.length).toBeLessThanOrEqual(5);
        expect(kept.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThanOrEqual(100);
        for (const { number, bytes } of kept) expect(bytes).toBe(told[number - 1]);
        for (let after = 0; after <= told.length; after++)
          expect(ring.holdsAfter(after)).toBe(kept.length >= told.length - after);
        expect(ring.holdsAfter(told.length + 1)).toBe(false);
      }),
    );
  });
});

describe("an event hub", () => {
  const hubOf = (options: EventHubOptions = {}) => createEventHub(options);

  it("tells a slow reader all it keeps, and then that something is missing", async () => {
    const hub = hubOf({ maxEvents: 10 });
    const slow = reader(hub);
    await slow.read();
    hub.publish({ type: "started", session: SESSION, kind: "user" });
    for (let index = 0; index < 100; index++) hub.publish(notice(String(index)));
    hub.delta(SESSION, "text", "so far");
    while (!slow.events.some(({ type }) => type === "reset")) await slow.read();
    const reset = slow.events.find(({ type }) => type === "reset");
    expect(reset).toMatchObject({
      why: "More happened than is kept.",
      running: [{ session: SESSION, text: "so far" }],
    });
    hub.publish(notice("after"));
    await slow.until("after");
    expect(texts(slow.events).at(-1)).toBe("after");
    expect(slow.events.filter(({ type }) => type === "text")).toEqual([]);
    await slow.leave();
    expect(hub.followers()).toBe(0);
  });

  it("lets everybody come back to where they were, wherever they left", async () => {
    const counts = fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(counts, async (steps) => {
        const hub = hubOf();
        const stays = reader(hub);
        let told = 0;
        let seen: string[] = [];
        let since: string | undefined;
        for (const count of steps) {
          const comes = reader(hub, { since });
          for (let index = 0; index < count; index++) hub.publish(notice(String(told++)));
          hub.publish(notice(`end ${told}`));
          await comes.until(`end ${told}`);
          seen = seen.concat(texts(comes.events));
          since = comes.lastId();
          await comes.leave();
        }
        await stays.until(`end ${told}`);
        expect(seen).toEqual(texts(stays.events));
      }),
    );
  });

  it("cuts off who reads nothing, and gives those that wait a sign of life", async () => {
    const hub = hubOf({ beatMs: 10, cutMs: 50 });
    const waits = reader(hub);
    const stuck = reader(hub);
    await waits.read();
    const beats = async () => {
      while (hub.followers() > 1) await waits.read();
    };
    await beats();
    await expect(
      (async () => {
        while (await stuck.read());
      })(),
    ).rejects.toThrow("does not read");
    await waits.leave();
  });

  it("keeps nothing while nobody follows, and for a while what who left may come back to", async () => {
    const hub = hubOf({ keepMs: 60 });
    for (let index = 0; index < 3; index++) hub.publish(notice("unheard"));
    const first = reader(hub);
    await first.read();
    const since = (first.events[0] as GatewayEvent).id;
    expect(since).toMatch(/\.3$/);
    await first.leave();
    hub.publish(notice("missed"));
    const again = reader(hub, { since });
    await again.until("missed");
    await again.leave();
    await new Promise((resolve) => setTimeout(resolve, 80));
    hub.publish(notice("unheard"));
    const late = reader(hub, { since });
    await late.read();
    expect(late.events).toMatchObject([
      { type: "reset", why: "What happened since is not kept any more." },
    ]);
    await late.leave();
  });

  it("leaves out of an event what is too large for one", async () => {
    const hub = hubOf();
    const tab = reader(hub);
    const content = "x".repeat(2 ** 21);
    hub.publish({
      type: "message",
      session: SESSION,
      entryId: "e1",
      message: { role: "user", content },
    });
    hub.publish(notice("end"));
    await tab.until("end");
    expect(tab.events[1]).toEqual({
      ...{ type: "message", session: SESSION, entryId: "e1" },
      ...{ id: expect.any(String), at: expect.any(String) },
    });
    await tab.leave();
  });
});
