import { describe, expect, it } from "vitest";
import { nearestName, nearestOf } from "./nearest.ts";

describe("the nearest known name", () => {
  const known = ["agents.defaults.workspace", "agents.defaults.model", "gateway.port"];

  it.each([
    // given, meant
    ["agents.defaults.worksapce", "agents.defaults.workspace"],
    ["agents.defaults.Model", "agents.defaults.model"],
    ["gateway.prot", "gateway.port"],
    ["gateway.nothing", null],
    ["x", null],
  ])("%s was meant to be %s", (given, meant) => {
    expect(nearestOf(given, known)).toBe(meant);
  });

  it("of names with dots is one that is near as a whole", () => {
    const models = ["openai/gpt-5.5", "anthropic/claude-opus-4-6"];
    expect(nearestName("opneai/gpt-5.5", models)).toBe("openai/gpt-5.5");
    expect(nearestName("nosuch.5", models)).toBeNull();
  });

  it("of several equally near ones the first is named", () => {
    expect(nearestOf("cat", ["bat", "hat"])).toBe("bat");
  });
});
