import { expect, it } from "vitest";
import { sessionScript } from "./session-script.ts";

it("has thirty turns, with a tool, compactions, an overflow, restarts and a recall", () => {
  const steps = sessionScript({
    readFile: (name) => ({ tool: "read", parameters: { path: name } }),
    recall: { tool: "lcm_grep", parameters: { pattern: "Elbe" } },
    tag: "x",
  });
  const said = steps.filter(({ kind }) => kind === "say");
  expect(said).toHaveLength(30);
  expect(new Set(said.map((step) => (step.kind === "say" ? step.phase : "")))).toEqual(
    new Set(["plain", "tool", "compacted", "overflow", "after", "restarted", "recall"]),
  );
  expect(steps.filter(({ kind }) => kind === "compact")).toHaveLength(2);
  expect(steps.filter(({ kind }) => kind === "restart")).toHaveLength(2);
});
