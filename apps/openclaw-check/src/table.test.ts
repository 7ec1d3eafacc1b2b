import { expect, it } from "vitest";
import { tableOf } from "./table.ts";

it("what was not run is seen beside what was", () => {
  expect(
    tableOf([
      { plugin: "minimal", host: "openclaw" },
      {
        plugin: "minimal",
        host: "clew",
        faults: [],
        seconds: 20,
        counts: { turns: 30, degraded: 0, lost: 0 },
      },
      { plugin: "owning", host: "clew", faults: ["a", "b"], seconds: 3 },
    ]),
  ).toEqual([
    "plugin   openclaw  clew",
    "minimal  NOT RUN   ok, 30 turns, 0 degraded, 0 messages lost, 20 s",
    "owning   NOT RUN   FAILED (2), 3 s",
  ]);
});
