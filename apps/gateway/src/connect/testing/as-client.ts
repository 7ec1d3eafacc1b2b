// Reads the settings of clients as they do, and makes the request that they would send.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { getStaticTOMLValue, parseTOML } from "toml-eslint-parser";

export interface ClientRequest {
  url: string;
  headers: Record<string, string>;
  body: unknown;
  model: string;
}

export interface ClientPlace {
  /** The person's own folder. */
  person: string;
  /** Clew's. */
  home: string;
  /** What the client calls a model where nobody tells it one. */
  usual: string;
}

// biome-ignore lint/suspicious/noExplicitAny: read as the clients do, who check nothing either.
type Any = any;

const json = async (...parts: string[]): Promise<Any> =>
  JSON.parse(await readFile(join(...parts), "utf8"));
const toml = async (...parts: string[]): Promise<Any> =>
  getStaticTOMLValue(parseTOML(await readFile(join(...parts), "utf8")));
async function variables(...parts: string[]): Promise<Record<string, string>> {
  const lines = (await readFile(join(...parts), "utf8")).split("\n");
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [, name, value] = /^(?:export )?(\w+)=(.*)$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, value!.replace(/^'(.*)'$/, "$1")]];
    }),
  );
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const messages = [{ role: "user", content: "Hello." }];

const chat = (base: string, key: string, model: string): ClientRequest => ({
  url: `${base}/chat/completions`,
  ...{ headers: bearer(key), model, body: { model, messages } },
});

/** By the client's name. Each also checks what else its client would have to find. */
export const AS_CLIENT: Readonly<Record<string, (place: ClientPlace) => Promise<ClientRequest>>> = {
  async "claude-code"({ person, usual }) {
    const { env } = await json(person, ".claude/settings.json");
    const model = env.ANTHROPIC_MODEL ?? usual;
    const custom = (env.ANTHROPIC_CUSTOM_HEADERS ?? "").split("\n").filter(Boolean);
    return {
      url: `${env.ANTHROPIC_BASE_URL}/v1/messages?beta=true`,
      headers: {
        ...(env.ANTHROPIC_AUTH_TOKEN ? bearer(env.ANTHROPIC_AUTH_TOKEN) : { "x-api-key": "own" }),
        ...Object.fromEntries(custom.map((line: string) => line.split(": "))),
        "anthropic-version": "2023-06-01",
      },
      ...{ model, body: { model, max_tokens: 1000, messages } },
    };
  },
  async codex({ person, usual }) {
    const { model = usual, model_provider: id, ...all } = await toml(person, ".codex/config.toml");
    const provider = all.model_providers[id];
    if (provider.wire_api !== "responses" || all.model_context_window < 500_000)
      throw new Error("Codex would not start, or would compact.");
    return {
      url: `${provider.base_url}/responses`,
      headers: { ...(provider.env_key ? bearer("own") : {}), ...provider.http_headers },
      ...{ model, body: { model, input: [{ role: "user", content: "Hello." }] } },
    };
  },
  async opencode({ person }) {
    const { model, provider } = await json(person, ".config/opencode/opencode.json");
    const [id, ...rest] = model.split("/");
    const name = rest.join("/");
    if (provider[id].models[name].limit.context < 500_000) throw new Error("It would compact.");
    return chat(provider[id].options.baseURL, provider[id].options.apiKey, name);
  },
  async pi({ person }) {
    const { defaultProvider, defaultModel } = await json(person, ".pi/agent/settings.json");
    const provider = (await json(person, ".pi/agent/models.json")).providers[defaultProvider];
    const model = provider.models.find(({ id }: { id: string }) => id === defaultModel);
    if (model.contextWindow < 500_000) throw new Error("It would compact.");
    return chat(provider.baseUrl, provider.apiKey, model.id);
  },
  async qwen({ person }) {
    const { security, model } = await json(person, ".qwen/settings.json");
    const env = await variables(person, ".qwen/.env");
    if (security.auth.selectedType !== "openai") throw new Error("It would ask for a login.");
    if (model.generationConfig.contextWindowSize < 500_000) throw new Error("It would compact.");
    return chat(env.OPENAI_BASE_URL!, env.OPENAI_API_KEY!, env.OPENAI_MODEL!);
  },
  async gemini({ person, usual }) {
    const { security } = await json(person, ".gemini/settings.json");
    const env = await variables(person, ".gemini/.env");
    if (security.auth.selectedType !== "gemini-api-key") throw new Error("It would ask.");
    const model = env.GEMINI_MODEL ?? usual;
    return {
      url: `${env.GOOGLE_GEMINI_BASE_URL}/v1beta/models/${model}:generateContent`,
      headers: { "x-goog-api-key": env.GEMINI_API_KEY ?? "own" },
      ...{ model, body: { contents: [{ role: "user", parts: [{ text: "Hello." }] }] } },
    };
  },
  async copilot({ home }) {
    const env = await variables(home, "connect/copilot.sh");
    if (Number(env.COPILOT_PROVIDER_MAX_PROMPT_TOKENS) < 500_000)
      throw new Error("It would compact.");
    if (env.COPILOT_PROVIDER_WIRE_API !== "completions") throw new Error("Another wire.");
    return chat(env.COPILOT_PROVIDER_BASE_URL!, env.COPILOT_PROVIDER_API_KEY!, env.COPILOT_MODEL!);
  },
  async cline({ person }) {
    const known = await json(person, ".cline/data/settings/providers.json");
    const { settings } = known.providers[known.lastUsedProvider];
    return chat(settings.baseUrl, settings.apiKey, settings.model);
  },
  async kimi({ person }) {
    const { default_model: id, models, providers } = await toml(person, ".kimi-code/config.toml");
    const model = models[id];
    if (model.max_context_size < 500_000) throw new Error("It would compact.");
    const provider = providers[model.provider];
    return chat(provider.base_url, provider.api_key, model.model);
  },
};
