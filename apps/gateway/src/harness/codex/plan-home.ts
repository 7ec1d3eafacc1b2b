// Decides what a Codex of ours finds in its own home.

/** Where requests go, and how one signs in there. */
export interface CodexProvider {
  /** Of the provider, for people. */
  name: string;
  baseUrl: string;
  /** By which one signs in, names in lower case. */
  headers: Readonly<Record<string, string>>;
}

export interface CodexHome {
  /** The text of config.toml; no secret is in it. */
  config: string;
  /** Variables that hold the secrets. */
  env: Record<string, string>;
}

/** Of the provider in its settings. */
export const PROVIDER = "clew";
const BEARER = /^Bearer\s+/i;

/**
 * Pure. Nothing of the person's own Codex is read, no plugins are fetched, and files of
 * instructions are left to the gateway, which reads them itself.
 */
export function planCodexHome({ name, baseUrl, headers }: CodexProvider): CodexHome {
  const env: Record<string, string> = {};
  const inHeaders: string[] = [];
  let key = "";
  for (const [header, value] of Object.entries(headers)) {
    if (header.toLowerCase() === "authorization" && BEARER.test(value)) {
      env.CLEW_MODEL_KEY = value.replace(BEARER, "");
      key = `env_key = "CLEW_MODEL_KEY"\n`;
      continue;
    }
    const variable = `CLEW_MODEL_HEADER_${inHeaders.length}`;
    env[variable] = value;
    inHeaders.push(`${quoted(header)} = "${variable}"`);
  }
  const config = `# Written by Clew at each start; changes are lost.
model_provider = "${PROVIDER}"
project_doc_max_bytes = 0
check_for_update_on_startup = false

[analytics]
enabled = false

[features]
plugins = false

[model_providers.${PROVIDER}]
name = ${quoted(name)}
base_url = ${quoted(baseUrl.replace(/\/+$/, ""))}
wire_api = "responses"
${key}env_http_headers = { ${inHeaders.join(", ")} }
request_max_retries = 2
stream_max_retries = 2
stream_idle_timeout_ms = 300000
`;
  return { config, env };
}

/** A string of TOML; its escapes are those of JSON. */
const quoted = (text: string): string => JSON.stringify(text);
