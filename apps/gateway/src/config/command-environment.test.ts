import { describe, expect, it } from "vitest";
import { planCommandEnvironment } from "./command-environment.ts";

const given = (
  variables: Record<string, string>,
  { settings = {}, named = [] }: { settings?: object; named?: string[] } = {},
) => Object.keys(planCommandEnvironment(variables, { settings, named })).sort();

const valued = (names: string) => Object.fromEntries(names.split(" ").map((name) => [name, "x"]));

const SECRET = {
  ...valued("MY_API_KEY MY_TOKEN PASSPHRASE GH_PAT MYSQL_PWD CREDS SESSION_COOKIE JWT STRIPE_SK"),
  ...valued("AWS_SECRET_ACCESS_KEY AUTH PIN ENCRYPTION_SALT PGPASSFILE SSH_AUTH_SOCK CORP_LLM"),
  ...valued("npm_config__auth npm_config_otp NPM_CONFIG__PASSWORD CARGO_REGISTRY_TOKEN GOAUTH"),
  ...valued("UV_PUBLISH_TOKEN UV_INDEX_CORP_PASSWORD YARN_NPM_AUTH_TOKEN GRADLE_PUBLISH_KEY"),
  ...valued("CLEW_HOME CLEW_X OPENCLAW_STATE_DIR OPENAI_API_KEY PLAIN TF_VAR_x"),
  ...valued("ORG_GRADLE_PROJECT_x BUNDLE_GEMS__CORP__COM COMPOSER_AUTH GIT_CONFIG_VALUE_0"),
  DATABASE_URL: "postgres://me:x@db/x",
  SENTRY_DSN: "https://abc@sentry.example/1",
  WEBHOOK_URL: "https://hooks.example.com/services/T/B/x",
  HTTP_PROXY: "http://me:x@proxy:1",
  PIP_INDEX_URL: "https://x@pypi.example/simple",
  MAVEN_OPTS: "-Xmx1g -Dgpg.passphrase=x",
  CARGO_HTTP_PROXY: "http://me:x@proxy:1",
};

describe("the variables of a command", () => {
  it("are none that could hold a secret, whatever they are called", () => {
    expect(given(SECRET)).toEqual([]);
  });

  it("are those that programs and builds go by", () => {
    const names =
      "PATH HOME USER LOGNAME SHELL LANG LC_ALL TZ TERM TMPDIR XDG_CACHE_HOME CI EDITOR GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL http_proxy NO_PROXY SSL_CERT_FILE CC CXXFLAGS LD_LIBRARY_PATH PKG_CONFIG_PATH MAKEFLAGS CMAKE_PREFIX_PATH NODE_ENV NODE_OPTIONS NODE_EXTRA_CA_CERTS npm_config_registry npm_config_cache NVM_DIR PNPM_HOME PLAYWRIGHT_BROWSERS_PATH PYTHONPATH VIRTUAL_ENV CONDA_PREFIX PIP_CACHE_DIR UV_CACHE_DIR CARGO_HOME RUSTFLAGS RUST_BACKTRACE GOPATH GOFLAGS GONOSUMDB CGO_ENABLED JAVA_HOME MAVEN_OPTS GRADLE_USER_HOME ANDROID_HOME GEM_HOME BUNDLE_PATH PERL5LIB DOTNET_ROOT NIX_PATH HOMEBREW_PREFIX DEBUG";
    expect(given(valued(names))).toEqual(names.split(" ").sort());
  });

  it("are also those that the operator names, alone whatever they hold", () => {
    const variables = { ...SECRET, ...valued("EXAMPLE_A EXAMPLE_TOKEN") };
    const named = ["PLAIN", "DATABASE_URL", "GH_PAT", "EXAMPLE_*"];
    expect(given(variables, { named })).toEqual(["DATABASE_URL", "EXAMPLE_A", "GH_PAT", "PLAIN"]);
  });

  it("are none from which settings take a key, but the usual ones", () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: that is how a setting names a variable.
    const settings = { apiKey: "${CARGO_X}", workspace: "${HOME}/work" };
    expect(given(valued("CARGO_X HOME"), { settings })).toEqual(["HOME"]);
  });
});
