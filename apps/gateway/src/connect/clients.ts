// How each client is told to come in by the door.
import { keyNames } from "../config/environment.ts";
import {
  BELIEVED_REPLY,
  BELIEVED_WINDOW,
  type ConnectClient,
  type Connection,
  keyOf,
  NO_KEY,
  OWN_MODEL,
  type Setting,
  type SettingValue,
} from "./connection.ts";

/** Clients of a maker take its key from the variable that everybody does. */
const keyName = (maker: string): string => keyNames(maker)[0]!;

const set = (path: string, value: SettingValue): Setting => ({ path: path.split("."), value });

/** Only where there is something to say. */
const setIf = (path: string, value: SettingValue | null): Setting[] =>
  value === null ? [] : [set(path, value)];

const modelOf = ({ model }: Connection): string => model ?? OWN_MODEL;

/** Where the gateway has no key, the client's own has to come through. */
const ownKeyNote = ({ signsIn }: Connection, how: string): string[] =>
  signsIn
    ? []
    : [`The gateway has no key for these models, so the client's own is passed on: ${how}.`];

/** A token takes the place of a key of its own. */
const shutOut = ({ signsIn, token }: Connection, title: string): string[] =>
  !signsIn && token !== null
    ? [
        `${title} shows the token in the place of its key, so give the gateway a key for these models.`,
      ]
    : [];

const claudeCode: ConnectClient = {
  ...{ id: "claude-code", title: "Claude Code", bin: "claude", api: "anthropic-messages" },
  model: null,
  files: ({ base, token, signsIn, model }) => [
    {
      place: { variable: "CLAUDE_CONFIG_DIR", folder: ".claude" },
      names: ["settings.json"],
      format: "json",
      set: [
        set("env.ANTHROPIC_BASE_URL", base),
        // Its own login may go on to Anthropic, so a token comes beside it.
        ...(signsIn
          ? [set("env.ANTHROPIC_AUTH_TOKEN", token ?? NO_KEY)]
          : setIf("env.ANTHROPIC_CUSTOM_HEADERS", token && `x-clew-token: ${token}`)),
        ...setIf("env.ANTHROPIC_MODEL", model),
      ],
    },
  ],
  start: () => "claude",
  notes: (connection) => ownKeyNote(connection, `its login, or ${keyName("anthropic")}`),
};

const codex: ConnectClient = {
  ...{ id: "codex", title: "Codex", bin: "codex", api: "openai-responses", model: null },
  files: ({ base, token, signsIn, model }) => [
    {
      place: { variable: "CODEX_HOME", folder: ".codex" },
      names: ["config.toml"],
      format: "toml",
      set: [
        set("model_provider", "clew"),
        ...setIf("model", model),
        set("model_context_window", BELIEVED_WINDOW),
        set("model_providers.clew", {
          ...{ name: "Clew", base_url: `${base}/v1`, wire_api: "responses" },
          ...(!signsIn && { env_key: keyName("openai") }),
          ...(token !== null && { http_headers: { "x-clew-token": token } }),
        }),
      ],
    },
  ],
  start: () => "codex",
  notes: (connection) => ownKeyNote(connection, keyName("openai")),
};

const opencode: ConnectClient = {
  ...{ id: "opencode", title: "opencode", bin: "opencode", api: "openai-completions" },
  model: OWN_MODEL,
  files: (connection) => [
    {
      place: { variable: "XDG_CONFIG_HOME", folder: ".config" },
      names: ["opencode/opencode.json", "opencode/opencode.jsonc"],
      format: "json",
      set: [
        set("provider.clew", {
          ...{ npm: "@ai-sdk/openai-compatible", name: "Clew" },
          options: { baseURL: `${connection.base}/v1`, apiKey: keyOf(connection) },
          models: {
            [modelOf(connection)]: {
              name: modelOf(connection),
              limit: { context: BELIEVED_WINDOW, output: BELIEVED_REPLY },
            },
          },
        }),
        set("model", `clew/${modelOf(connection)}`),
      ],
    },
  ],
  start: () => "opencode",
  notes: (connection) => shutOut(connection, "opencode"),
};

const pi: ConnectClient = {
  ...{ id: "pi", title: "pi", bin: "pi", api: "openai-completions", model: OWN_MODEL },
  files: (connection) => {
    const place = { variable: "PI_CODING_AGENT_DIR", folder: ".pi/agent" };
    return [
      {
        ...{ place, names: ["models.json"], format: "json" },
        set: [
          set("providers.clew", {
            ...{ baseUrl: `${connection.base}/v1`, api: "openai-completions" },
            apiKey: keyOf(connection),
            models: [
              {
                ...{ id: modelOf(connection), name: modelOf(connection), reasoning: false },
                ...{ input: ["text", "image"], contextWindow: BELIEVED_WINDOW },
                maxTokens: BELIEVED_REPLY,
              },
            ],
          }),
        ],
      },
      {
        ...{ place, names: ["settings.json"], format: "json" },
        set: [set("defaultProvider", "clew"), set("defaultModel", modelOf(connection))],
      },
    ];
  },
  start: () => "pi",
  notes: (connection) => shutOut(connection, "pi"),
};

const qwen: ConnectClient = {
  ...{ id: "qwen", title: "Qwen Code", bin: "qwen", api: "openai-completions", model: OWN_MODEL },
  files: (connection) => {
    const place = { variable: "QWEN_HOME", folder: ".qwen" };
    return [
      {
        ...{ place, names: [".env"], format: "env" },
        set: [
          set("OPENAI_BASE_URL", `${connection.base}/v1`),
          set(keyName("openai"), keyOf(connection)),
          set("OPENAI_MODEL", modelOf(connection)),
        ],
      },
      {
        ...{ place, names: ["settings.json"], format: "json" },
        set: [
          set("security.auth.selectedType", "openai"),
          set("model.generationConfig.contextWindowSize", BELIEVED_WINDOW),
        ],
      },
    ];
  },
  start: () => "qwen",
  notes: (connection) => shutOut(connection, "Qwen Code"),
};

const gemini: ConnectClient = {
  ...{ id: "gemini", title: "Gemini CLI", bin: "gemini", api: "google-generative-ai", model: null },
  files: ({ base, token, signsIn, model }) => {
    const place = { variable: null, folder: ".gemini" };
    return [
      {
        ...{ place, names: [".env"], format: "env" },
        set: [
          set("GOOGLE_GEMINI_BASE_URL", base),
          ...setIf(keyName("google"), token ?? (signsIn ? NO_KEY : null)),
          ...setIf("GEMINI_MODEL", model),
        ],
      },
      {
        ...{ place, names: ["settings.json"], format: "json" },
        set: [set("security.auth.selectedType", "gemini-api-key")],
      },
    ];
  },
  start: () => "gemini",
  // Whom to trust is for its person to say, so it is not among the settings.
  notes: (connection) => [
    "With -p, in a folder that Gemini CLI was not told to trust, it needs GEMINI_CLI_TRUST_WORKSPACE=true.",
    ...(connection.token === null
      ? ownKeyNote(connection, keyName("google"))
      : shutOut(connection, "Gemini CLI")),
  ],
};

const copilot: ConnectClient = {
  ...{ id: "copilot", title: "Copilot CLI", bin: "copilot", api: "openai-completions" },
  model: OWN_MODEL,
  files: (connection) => [
    {
      ...{ place: "home", names: ["connect/copilot.sh"], format: "shell" },
      set: [
        set("COPILOT_PROVIDER_BASE_URL", `${connection.base}/v1`),
        set("COPILOT_PROVIDER_TYPE", "openai"),
        set("COPILOT_PROVIDER_WIRE_API", "completions"),
        set("COPILOT_PROVIDER_API_KEY", keyOf(connection)),
        set("COPILOT_MODEL", modelOf(connection)),
        set("COPILOT_PROVIDER_MAX_PROMPT_TOKENS", String(BELIEVED_WINDOW)),
        set("COPILOT_PROVIDER_MAX_OUTPUT_TOKENS", String(BELIEVED_REPLY)),
        set("COPILOT_OFFLINE", "true"),
      ],
    },
  ],
  start: (_connection, file) => `. ${file(0)} && copilot`,
  notes: (connection) => [
    "Copilot CLI takes these from its environment only; a line in your shell's profile that reads the file makes them last.",
    ...shutOut(connection, "Copilot CLI"),
  ],
};

const cline: ConnectClient = {
  ...{ id: "cline", title: "Cline", bin: "cline", api: "openai-completions", model: OWN_MODEL },
  files: (connection) => [
    {
      place: { variable: null, folder: ".cline" },
      names: ["data/settings/providers.json"],
      format: "json",
      set: [
        set("version", 1),
        set("lastUsedProvider", "openai-compatible"),
        // One by one: the client writes the file, too.
        set("providers.openai-compatible.settings.provider", "openai-compatible"),
        set("providers.openai-compatible.settings.apiKey", keyOf(connection)),
        set("providers.openai-compatible.settings.model", modelOf(connection)),
        set("providers.openai-compatible.settings.baseUrl", `${connection.base}/v1`),
        set("providers.openai-compatible.updatedAt", "2026-01-01T00:00:00.000Z"),
        set("providers.openai-compatible.tokenSource", "manual"),
      ],
    },
  ],
  start: () => "cline",
  notes: (connection) => [
    "Cline cannot be told a window; it shortens by its own estimate near 200,000 tokens.",
    ...shutOut(connection, "Cline"),
  ],
};

const kimi: ConnectClient = {
  ...{ id: "kimi", title: "Kimi Code", bin: "kimi", api: "openai-completions", model: OWN_MODEL },
  files: (connection) => [
    {
      place: { variable: null, folder: ".kimi-code" },
      names: ["config.toml"],
      format: "toml",
      set: [
        set("default_model", "clew"),
        set("providers.clew", {
          ...{ type: "openai", base_url: `${connection.base}/v1` },
          api_key: keyOf(connection),
        }),
        set("models.clew", {
          ...{ provider: "clew", model: modelOf(connection) },
          max_context_size: BELIEVED_WINDOW,
        }),
      ],
    },
  ],
  start: () => "kimi",
  notes: (connection) => shutOut(connection, "Kimi Code"),
};

export const CONNECT_CLIENTS: readonly ConnectClient[] = [
  ...[claudeCode, codex, opencode, pi, qwen, gemini, copilot, cline, kimi],
];
