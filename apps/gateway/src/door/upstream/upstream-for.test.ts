import { expect, it } from "vitest";
import { ConfigSchema } from "../../config/schema.ts";
import { upstreamFor } from "./upstream-for.ts";

it("a name like an agent's is another model's where the settings say so, and nobody's else", () => {
  const upstreams = { "openai-completions": { provider: "p", models: { "clew/fast": "small" } } };
  const config = ConfigSchema.parse({ door: { upstreams }, agents: { list: [{ id: "main" }] } });
  const namedModel = (name: string) => ({
    model: { ...{ provider: "p", api: "openai-completions", id: name } },
  });
  const find = (model: string) =>
    upstreamFor(
      { host: { config, namedModel } as never, home: "/home" },
      "openai-completions",
      model,
    );
  expect(find("clew/fast")).toMatchObject({ resolved: { model: { id: "p/small" } } });
  expect(find("clew/slow")).toEqual({
    problem: 'There is no agent "slow" here; name one of agents.list.',
  });
});
