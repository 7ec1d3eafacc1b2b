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
  // Hosts trim what is said, and what is counted as lost is looked for as it stands here.
  for (const recall of [undefined, { tool: "lcm_grep", parameters: {} }])
    for (const step of sessionScript({
      ...{ readFile: (name) => ({ tool: "read", parameters: { path: name } }), recall, tag: "x" },
    }))
      if (step.kind === "say") expect(step.text).toBe(step.text.trim());
  expect(steps.filter(({ kind }) => kind === "compact")).toHaveLength(2);
  expect(steps.filter(({ kind }) => kind === "restart")).toHaveLength(2);
});
