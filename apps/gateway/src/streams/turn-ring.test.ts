import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { planReturn } from "./plan-return.ts";
import { createTurnRing, entryIdOf, type RingEvent } from "./turn-ring.ts";

const event: fc.Arbitrary<RingEvent | "entry"> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant("text" as const),
      delta: fc.string({ minLength: 1 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("thinking" as const),
      delta: fc.string({ minLength: 1 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("notice" as const), text: fc.string() }) },
  { weight: 2, arbitrary: fc.constant("entry" as const) },
);

const pieces = (events: readonly RingEvent[]) =>
  events.map((each) => ("delta" in each ? `${each.type} ${each.delta}` : each.type)).join("\n");

/** Texts of a stretch between entries, as one. */
const textOf = (events: readonly RingEvent[]) =>
  events.map((each) => ("delta" in each ? each.delta : "")).join("");

describe("a ring", () => {
  it("tells whoever comes back exactly what is missing, or says what is void and tells that whole", () => {
    fc.assert(
      fc.property(
        fc.array(event, { minLength: 1, maxLength: 60 }),
        fc.nat(),
        fc.integer({ min: 200, max: 4000 }),
        (given, at, most) => {
          const ring = createTurnRing({ most });
          const all: RingEvent[] = given.map((each, index) =>
            each === "entry"
              ? { type: "message", entryId: `e${index}`, message: { role: "user", content: "" } }
              : each,
          );
          for (const each of all) ring.add(each);
          const heard = at % (all.length + 1);
          const since = { ring: ring.id, number: heard, entryId: ring.entryAt(heard) };
          const plan = planReturn(ring, 0, since);
          const told = ring.after(plan.after).events.map((each) => each.event);
          if (plan.restarted === null) {
            expect(pieces(told)).toBe(pieces(all.slice(heard)));
            return;
          }
          const { keeps } = plan.restarted;
          const kept = all.findIndex((each) => entryIdOf(each) === keeps) + 1;
          expect(kept).toBeLessThanOrEqual(heard);
          const behind = all.slice(kept);
          expect(told.flatMap((each) => entryIdOf(each) ?? [])).toEqual(
            behind.flatMap((each) => entryIdOf(each) ?? []),
          );
          // Of what is not stored yet nothing is missing.
          const open = all.slice(all.findLastIndex((each) => entryIdOf(each) !== undefined) + 1);
          expect(textOf(told)).toBe(textOf(open));
        },
      ),
    );
  });

  it("forgets the oldest pieces and no others when they are too many", () => {
    const ring = createTurnRing({ most: 1000 });
    for (let number = 1; number <= 100; number++) ring.add({ type: "text", delta: "abcd" });
    expect(ring.after(95)).toMatchObject({ isWhole: false });
    expect(ring.after(95).events.map(({ number }) => number)).toEqual([96, 97, 98, 99, 100]);
    const whole = ring.after(3);
    expect(whole.isWhole).toBe(true);
    expect(whole.events).toEqual([
      { number: 100, event: { type: "text", delta: "abcd".repeat(100) } },
    ]);
  });

  it("of another owner tells what is behind the entry that was heard last", () => {
    const ring = createTurnRing();
    ring.add({ type: "accepted", entryId: "a" });
    ring.add({ type: "message", entryId: "b", message: { role: "user", content: "" } });
    const from = (entryId: string | null) =>
      planReturn(ring, 0, { ring: "another", number: 7, entryId });
    expect(from("a")).toEqual({ after: 1, restarted: { keeps: "a" } });
    expect(from("b")).toEqual({ after: 2, restarted: { keeps: "b" } });
    expect(from("elsewhere")).toEqual({ after: 0, restarted: { keeps: null } });
  });
});
