import { expect, it } from "vitest";
import { readEnvironment } from "../../config/environment.ts";
import { ConfigSchema } from "../../config/schema.ts";
import { modelRequest } from "../../models/model-request.ts";
import { resolveModel } from "../../models/resolve.ts";
import { findUpstream } from "./find-upstream.ts";

it("asks a provider by the wire of its settings, whatever a known one of its name speaks", () => {
  // The catalogue's "gemini" speaks Chat Completions.
  const config = ConfigSchema.parse({ door: { upstreams: {} } });
  const model = { provider: "gemini", api: "google-generative-ai", id: "pro" } as const;
  const found = findUpstream({
    ...{ api: "openai-completions", model: "pro", config, agentModel: "gemini/pro" },
    asksAgent: true,
    named: () => ({ model: { ...model, contextWindow: 1, maxOutputTokens: 1 } }) as never,
  });
  expect(found).toMatchObject({ across: true, resolved: { model } });
});

it("needs a key of the gateway's own only where the client's is not passed on", () => {
  const find = (api: "anthropic-messages" | "openai-completions", key?: "client") => {
    const settings = { provider: "anthropic", ...(key && { key }) };
    const config = ConfigSchema.parse({ door: { upstreams: { [api]: settings } } });
    const request = modelRequest(config, readEnvironment({}));
    return findUpstream({
      ...{ api, model: "claude-sonnet-5", config, agentModel: "offline/offline", asksAgent: false },
      named: (name, whose) => resolveModel({ ...request, name, key: whose }),
    });
  };
  const missing = { problem: expect.stringContaining("needs a key: set ANTHROPIC_API_KEY") };
  expect(find("anthropic-messages")).toEqual(missing);
  expect(find("anthropic-messages", "client")).toMatchObject({
    ...{ across: false, resolved: { name: "anthropic/claude-sonnet-5" } },
    settings: { key: "client" },
  });
  // By another wire than its own nobody signs in with it.
  expect(find("openai-completions", "client")).toEqual(missing);
});
