import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { readEnvironment } from "../config/environment.ts";
import { collectOutput } from "../testing/command.ts";
import { failedCommand } from "./command-errors.ts";
import { interruptible } from "./interruptible.ts";

describe("work that can be interrupted", () => {
  it("says how far it is once it takes long, on the error output", async () => {
    const output = collectOutput();
    const done = await interruptible(output, async ({ says }) => {
      says("at once");
      await sleep(350);
      says("1 of 2 searched");
      says("2 of 2 searched");
      return "done";
    });
    expect([done, output.out(), output.errors()]).toEqual(["done", "", "1 of 2 searched\n"]);
  });

  it("ends by Ctrl-C between two steps, with exit code 130, and listens no longer", async () => {
    const before = process.listenerCount("SIGINT");
    const steps: number[] = [];
    const work = interruptible(collectOutput(), async ({ signal }) => {
      for (const step of [1, 2, 3]) {
        signal.throwIfAborted();
        steps.push(step);
        if (step === 2) process.emit("SIGINT");
      }
    });
    const error = await work.catch((caught: unknown) => caught);
    const shell = { output: collectOutput(), environment: readEnvironment({}) };
    expect([steps, failedCommand(error, shell)]).toEqual([[1, 2], 130]);
    expect(process.listenerCount("SIGINT")).toBe(before);
  });
});
