import { describe, expect, it } from "vitest";
import { planOwners } from "./plan-owners.ts";

const agent = (name: string, owner: string) => ({ agentDir: `/home/new/agents/${name}`, owner });

describe("the owners of restored sessions", () => {
  it("stay where the layout is the same", () => {
    expect(planOwners([".."], [agent("main", "..")])).toEqual({ moves: [], strangers: [] });
  });

  it("are the one agent that is there, whatever its folder was called", () => {
    expect(planOwners(["../old/agents/writer"], [agent("main", "..")])).toEqual({
      moves: [{ from: "../old/agents/writer", to: ".." }],
      strangers: [],
    });
  });

  it("are found by the names of their folders where several share a database", () => {
    const [main, writer] = [agent("main", "agents/main"), agent("writer", "agents/writer")];
    expect(
      planOwners(
        ["../o/agents/writer", "../o/agents/main", "../o/agents/gone", ""],
        [main, writer],
      ),
    ).toEqual({
      moves: [
        { from: "../o/agents/writer", to: "agents/writer" },
        { from: "../o/agents/main", to: "agents/main" },
      ],
      strangers: ["../o/agents/gone"],
    });
  });

  it("never take an agent's sessions that are in the backup under its own name", () => {
    const main = agent("main", "..");
    expect(planOwners(["..", "../../old/agents/main"], [main])).toEqual({
      moves: [],
      strangers: ["../../old/agents/main"],
    });
  });
});
