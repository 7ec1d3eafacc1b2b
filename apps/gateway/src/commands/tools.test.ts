import { describe, expect, it } from "vitest";
import { startTestGateway } from "../testing/gateway.ts";
import { scriptedSettings } from "../testing/mcp.ts";

describe("/tools", () => {
  it("lists what servers bring, and which of them are not there", async () => {
    const { gateway } = await startTestGateway({
      mcp: {
        servers: {
          good: { ...scriptedSettings(), tools: ["echo"] },
          bad: { ...scriptedSettings("--exit") },
          others: { ...scriptedSettings(), agents: ["other"] },
        },
      },
    });
    const { text, data } = await gateway.command("main", {
      kind: "command",
      name: "tools",
      args: "",
    });
    expect(text).toMatch(/mcp__good__echo\s+\d+ tokens/);
    expect(text).toContain("\nMCP server good: 1 tool, scripted 1.0.0.");
    expect(text).toMatch(
      /\nMCP server bad: is not there and is tried again: it ended with exit code 3/,
    );
    expect(text).not.toContain("others");
    expect(data).toMatchObject({
      servers: [
        { name: "bad", state: "away", problem: { kind: "ended" } },
        { name: "good", state: "ready", problem: null },
      ],
    });
  });
});
