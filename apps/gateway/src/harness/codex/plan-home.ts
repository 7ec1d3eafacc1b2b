// Decides what a Codex of ours finds in its own home.

/** Where its requests go. */
export interface CodexProvider {
  /** Of the provider, for people. */
  name: string;
  baseUrl: string;
  key: string;
}

export interface CodexHome {
  /** The text of config.toml; no secret is in it. */
  config: string;
  /** Variables that hold the secrets. */
  env: Record<string, string>;
}

/** Of the provider in its settings. */
export const PROVIDER = "clew";
/** Commands of its own do not see it. */
const KEY_VARIABLE = "CLEW_MODEL_KEY";

/**
 * Pure. Nothing of the person's own Codex is read, no plugins are fetched, and files of
 * instructions are left to the gateway, which reads them itself.
 */
export function planCodexHome({ name, baseUrl, key }: CodexProvider): CodexHome {
  const config = `# Written by Clew at each start; changes are lost.
model_provider = "${PROVIDER}"
project_doc_max_bytes = 0
check_for_update_on_startup = false

[analytics]
enabled = false

[features]
plugins = false
shell_snapshot = false

[shell_environment_policy]
exclude = ["${KEY_VARIABLE}"]

[model_providers.${PROVIDER}]
name = ${quoted(name)}
base_url = ${quoted(baseUrl.replace(/\/+$/, ""))}
wire_api = "responses"
env_key = "${KEY_VARIABLE}"
request_max_retries = 2
stream_max_retries = 2
stream_idle_timeout_ms = 300000
`;
  return { config, env: { [KEY_VARIABLE]: key } };
}

/** A string of TOML; its escapes are those of JSON. */
const quoted = (text: string): string => JSON.stringify(text);
