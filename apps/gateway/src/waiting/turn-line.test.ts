import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTurnLine, type TurnPlace } from "./turn-line.ts";

const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("the line of turns", () => {
  it("lets so many run, and the next in order of arrival", async () => {
    const line = createTurnLine(() => 2);
    const began: string[] = [];
    const places = ["a", "b", "c", "d"].map((name) => {
      const place = line.enter();
      void place.granted.then(() => began.push(name));
      return place;
    });
    await settle();
    expect([began.join(), line.hasRoom()]).toEqual(["a,b", false]);
    places[2]!.leave();
    places[0]!.leave();
    places[0]!.leave();
    await settle();
    expect([began.join(), line.running()]).toEqual(["a,b,d", 2]);
  });

  it("has sessions take turns: none comes twice before another that was there, and none more than may run", async () => {
    const session = fc.record({ messages: fc.integer({ min: 1, max: 6 }) });
    const sessions = fc.array(session, { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(sessions, fc.integer({ min: 1, max: 4 }), fc.gen(), async (all, most, g) => {
        const line = createTurnLine(() => most);
        const began: number[] = [];
        const left = all.map(({ messages }) => messages);
        /** When each stands in the line, by how many had begun then. */
        const since = new Map<number, number>();
        const running = new Map<number, TurnPlace>();
        const enter = (at: number) => {
          since.set(at, began.length);
          const place = line.enter();
          void place.granted.then(() => {
            // Everybody who was in the line before it has begun, and nobody came twice meanwhile.
            const meanwhile = began.slice(since.get(at));
            expect(new Set(meanwhile).size).toBe(meanwhile.length);
            began.push(at);
            since.delete(at);
            running.set(at, place);
          });
        };
        for (const at of all.keys()) enter(at);
        await settle();
        while (running.size > 0) {
          expect(running.size).toBeLessThanOrEqual(most);
          const at = g(fc.constantFrom, ...running.keys());
          const place = running.get(at)!;
          running.delete(at);
          place.leave();
          if (--left[at]! > 0) enter(at);
          await settle();
        }
        expect(began).toHaveLength(all.reduce((sum, { messages }) => sum + messages, 0));
      }),
    );
  });
});
