import { expect, it } from "vitest";
import { ConfigSchema } from "../../config/schema.ts";
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
