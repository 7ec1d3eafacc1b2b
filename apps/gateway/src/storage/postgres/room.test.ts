import { expect, it } from "vitest";
import { createRoom } from "./room.ts";

const trip = (failed: "full" | "connection" | null) => ({ statements: ["any"], ms: 1, failed });

it("says that a disk is full once something was not stored, until there is room again", async () => {
  let now = 0;
  let tries = 0;
  let hasRoom: boolean | null = false;
  const room = createRoom({
    now: () => now,
    hasRoom: async () => {
      tries++;
      return hasRoom;
    },
  });
  room.take(trip("connection"));
  expect(await room.whyNot()).toBe(undefined);
  room.take(trip("full"));
  // What only reads succeeds all the same.
  room.take(trip(null));
  expect(await room.whyNot()).toMatch(/no room left/);
  expect(tries).toBe(0);
  now = 2000;
  expect(await room.whyNot()).toMatch(/no room left/);
  expect(await room.whyNot()).toMatch(/no room left/);
  expect(tries).toBe(1);
  [hasRoom, now] = [true, 4000];
  expect(await room.whyNot()).toBe(undefined);
  expect(await room.whyNot()).toBe(undefined);
  expect(tries).toBe(2);
  // Nobody can say that it is full still.
  room.take(trip("full"));
  [hasRoom, now] = [null, 6000];
  expect(await room.whyNot()).toBe(undefined);
});
