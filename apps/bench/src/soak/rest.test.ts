import { expect, it } from "vitest";
import { createRest } from "./rest.ts";

it("everybody rests while something is measured, but for who is done, and then goes on", async () => {
  const rest = createRest(3);
  const told: string[] = [];
  const client = async (name: string, rounds: number) => {
    for (let round = 0; round < rounds; round++) {
      await rest.here();
      told.push(name);
      await Promise.resolve();
    }
    rest.leave();
  };
  const measure = () =>
    rest.during(async () => {
      const before = told.length;
      await new Promise((resolve) => setImmediate(resolve));
      expect(told.length).toBe(before);
      told.push("measured");
    });
  const first = measure();
  const clients = [client("a", 1), client("b", 400), client("c", 400)];
  await first;
  await measure();
  await Promise.all(clients);
  await measure();
  expect(told[0]).toBe("measured");
  expect(told.filter((name) => name === "measured").length).toBe(3);
  expect(told.length).toBe(804);
});
