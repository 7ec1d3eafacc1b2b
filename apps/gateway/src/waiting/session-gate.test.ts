import { expect, it } from "vitest";
import { createSessionGate } from "./session-gate.ts";

it("replies go on together, a turn runs alone, and each comes in order", async () => {
  const gate = createSessionGate();
  const one = gate.enter("a", "together");
  const two = gate.enter("a", "together");
  const turn = gate.enter("a", "alone");
  const three = gate.enter("a", "together");
  const isIn = () => [one, two, turn, three].map((place) => place.isIn);
  expect(isIn()).toEqual([true, true, false, false]);
  expect([gate.isFree("a", "together"), gate.isFree("b", "alone")]).toEqual([false, true]);
  one.leave();
  expect(isIn()).toEqual([true, true, false, false]);
  two.leave();
  await turn.granted;
  expect(isIn()).toEqual([true, true, true, false]);
  turn.leave();
  await three.granted;
  three.leave();
  three.leave();
  expect(gate.isFree("a", "alone")).toBe(true);
});

it("whoever gives up its place lets in who stands behind it", () => {
  const gate = createSessionGate();
  const one = gate.enter("a", "together");
  const turn = gate.enter("a", "alone");
  const two = gate.enter("a", "together");
  turn.leave();
  expect([one.isIn, two.isIn]).toEqual([true, true]);
});
