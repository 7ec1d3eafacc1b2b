import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { agentSettings } from "./agent.ts";
import { ConfigSchema } from "./schema.ts";

const settings = (agents: object, agentId: string) =>
  agentSettings(ConfigSchema.parse({ agents }), "/home", agentId);

describe("an agent's settings", () => {
  it("are those of the defaults for each of them that says nothing, its workspace too", () => {
    const defaults = { workspace: "/shared", model: "a/b", contextTokens: 9000 };
    const list = [{ id: "first", default: true }, { id: "second" }, { id: "third" }];
    for (const id of ["first", "second", "third", "main", "unlisted"])
      expect(settings({ defaults, list }, id), id).toMatchObject({
        ...{ workspace: resolve("/shared"), model: "a/b", contextTokens: 9000 },
      });
  });

  it("are its own where it says something", () => {
    const defaults = { workspace: "/shared", model: "a/b" };
    const list = [{ id: "coder", workspace: "/code", model: "c/d", engine: "lossless" }];
    expect(settings({ defaults, list }, "coder")).toMatchObject({
      ...{ workspace: resolve("/code"), model: "c/d", engine: "lossless" },
    });
    expect(settings({ defaults, list }, "main").workspace).toBe(resolve("/shared"));
  });

  it("name a folder in the home of its own where nobody names a workspace", () => {
    const list = [{ id: "one" }, { id: "two" }];
    expect(settings({ list }, "one").workspace).toBe(resolve("/home/agents/one/workspace"));
    expect(settings({ list }, "two").workspace).toBe(resolve("/home/agents/two/workspace"));
  });
});
