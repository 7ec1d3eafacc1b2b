import { describe, expect, it } from "vitest";
import { collectLog } from "../testing/plugins.ts";
import { closeInOrder } from "./close-in-order.ts";

describe("a part of a gateway that does not end", () => {
  it("is told of with what of it goes on, and those behind it are ended all the same", async () => {
    const log = collectLog();
    const ended: string[] = [];
    const never = { name: "plugins", close: () => new Promise<void>(() => {}) };
    const parts = [
      { ...never, unfinished: () => ['service clock of plugin "tide"'] },
      { ...never, name: "costs" },
      { name: "engines", close: async () => void ended.push("engines") },
    ];
    await closeInOrder(parts, { boundMs: 60, log });
    expect(log.lines).toEqual([
      'warn plugins did not end in time and are left behind: service clock of plugin "tide"',
      "warn costs did not end in time and are left behind",
    ]);
    expect(ended).toEqual(["engines"]);
  });
});
