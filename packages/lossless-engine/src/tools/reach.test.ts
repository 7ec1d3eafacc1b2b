import { expect, it } from "vitest";
import { createStores } from "../stores.ts";
import { createReach } from "./reach.ts";

const sessionOf = (number: number) => ({
  ...{ sessionId: `s${number}`, sessionKey: `agent:main:${number}`, owner: "" },
});

it("the tools of a session know it after thousands of others, and still while they are called", () => {
  const reach = createReach();
  const stores = createStores(undefined, {});
  const watched = reach.watching(stores, "/home/me/project");
  const meet = (from: number, to: number) => {
    for (let at = from; at < to; at++) watched.of(sessionOf(at));
  };
  meet(0, 15_000);
  expect(reach.storeOf(sessionOf(0))).toBeDefined();
  meet(15_000, 30_000);
  expect(reach.workspaceOf(sessionOf(0))).toBe("/home/me/project");
  expect(reach.storeOf(sessionOf(1))).toBeUndefined();
  stores.release();
});
