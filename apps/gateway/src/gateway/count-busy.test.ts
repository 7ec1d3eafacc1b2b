import { describe, expect, it } from "vitest";
import { type Busy, countBusy } from "./count-busy.ts";

const busy = (what: Partial<Busy>) =>
  countBusy({ work: new Map(), atDoor: new Map(), storing: new Map(), backlog: 0, ...what });

describe("what a gateway counts as busy", () => {
  it("is one turn in each session, and all that waits behind it", () => {
    const work = new Map([
      ["agent:main:tide", 3],
      ["agent:main:reef", 1],
    ]);
    expect(busy({ work, backlog: 5 })).toEqual({ running: 2, waiting: 7 });
  });

  it("holds each turn at the door, and not what the door stores beside it", () => {
    const work = new Map([["agent:main:tide", 2]]);
    const atDoor = new Map([["agent:main:tide", 2]]);
    expect(busy({ work, atDoor })).toEqual({ running: 2, waiting: 0 });
  });

  it("does not hold what the door stores behind a reply", () => {
    const work = new Map([
      ["agent:main:tide", 1],
      ["agent:main:reef", 2],
    ]);
    const storing = new Map([
      ["agent:main:tide", 1],
      ["agent:main:reef", 1],
    ]);
    expect(busy({ work, storing })).toEqual({ running: 1, waiting: 0 });
  });
});
