// A gateway whose door leads to one model server on loopback, by all four wires.
import { startTestGateway, type TestGateway } from "./gateway.ts";

export interface TestDoorOptions {
  /** Absent: a new one. */
  home?: string;
  /** Of the model, tokens. */
  window?: number;
  settings?: Record<string, unknown>;
}

/** The model is called "model" on each wire. */
export function startTestDoor(
  upstream: { url: string },
  { home, window = 32_000, settings = {} }: TestDoorOptions = {},
): Promise<TestGateway> {
  const cost = { input: 1, output: 2 };
  const provider = (api: string, version: string) => ({
    baseUrl: `${upstream.url}${version}`,
    ...{ api, apiKey: "own-key", models: [{ id: "model", contextWindow: window, cost }] },
  });
  const providers = {
    chat: provider("openai-completions", "/v1"),
    resp: provider("openai-responses", "/v1"),
    claude: provider("anthropic-messages", "/v1"),
    gemini: provider("google-generative-ai", "/v1beta"),
  };
  return startTestGateway({ models: { providers }, ...settings }, home);
}
