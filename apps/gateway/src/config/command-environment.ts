// Decides which variables of the environment the commands of agents are given.

type Variables = Readonly<Record<string, string | undefined>>;

/** What programs need to run at all. */
const USUAL = [
  "path|home|user|logname|shell|hostname|tz|term|colorterm|columns|lines|no_color|force_color",
  "lang|language|lc_\\w+|tmpdir|tmp|temp|xdg_\\w+|display|wayland_display",
  "editor|visual|pager|ci|git_(?:author|committer)_(?:name|email|date)|git_(?:editor|pager)",
];

/** What builds go by; of `\w*` the program that reads them gives the names. */
const OF_BUILDS = [
  "(?:https?|ftp|all|no)_proxy|ssl_cert_(?:file|dir)|curl_ca_bundle|requests_ca_bundle",
  "cc|cxx|cpp|ld|ar|as|nm|ranlib|strip|fc|(?:c|cxx|cpp|ld|f)flags|libs|arch|archflags|destdir|prefix",
  "(?:c|c_include|cplus_include|library|ld_library)_path|cpath|dyld_\\w+|pkg_config\\w*|make\\w*",
  "cmake_\\w+|ccache_\\w+|llvm_\\w+|libclang_path|openssl_\\w*dir|sdkroot|developer_dir|protoc",
  "cuda_\\w+|rocm_path|omp_\\w+|macosx_deployment_target",
  "node_(?:env|path|options|extra_ca_certs)|npm_config_\\w+|(?:nvm|fnm|volta|pnpm|corepack)_\\w+",
  "bun_install|deno_(?:dir|install)\\w*|yarn_\\w+|playwright_\\w+|puppeteer_\\w+|cypress_cache_folder",
  "python\\w*|virtual_env\\w*|(?:conda|pyenv|pip|pipenv|uv|pdm)_\\w+|poetry_(?:home|cache_dir)",
  "(?:cargo|rustup|rustc|rust)_\\w+|rust\\w*flags",
  "go(?:path|root|flags|proxy|private|sumdb|no\\w+|cache|modcache|bin|os|arch|arm|work|toolchain)",
  "(?:cgo|goexperiment|godebug)\\w*|zig_\\w+|swift_\\w+|dart_\\w+|flutter_\\w+|pub_cache",
  "(?:java|jdk|m2|maven|gradle|ant|kotlin|scala|sdkman|android|groovy)_\\w+|gradle_user_home|sbt_opts",
  "gem_(?:home|path)|ruby(?:lib|opt)|(?:rbenv|rvm)_\\w+|bundle_(?:path|gemfile|jobs|without|with|bin)",
  "perl\\w*|lua_c?path|composer_(?:home|cache_dir)|php_\\w+|dotnet_\\w+|nuget_packages",
  "(?:ghcup|stack|cabal|opam|mix|hex|erl|asdf|mise)_\\w+|nix_(?:path|profiles|store|ssl_cert_file)",
  "homebrew_(?:prefix|cellar|repository)|debug|verbose|log_level",
];

const isUsual = oneOf(USUAL);
const isOfBuilds = oneOf(OF_BUILDS);

/** Second to the lists, for what they cannot foresee. */
const SOUNDS_SECRET =
  /key|token|secret|passw|passphrase|cred|auth(?!or)|cookie|jwt|webhook|bearer|(?:^|_)(?:pass|pwd|pat|sk|pin|otp|dsn|sid)(?:_|$)|^clew_|^openclaw_/i;

/** Pure. What the variable holds is rather a key than not. */
export const soundsSecret = (name: string): boolean => SOUNDS_SECRET.test(name);

/** An address with somebody's key or password in it, or an option that says one. */
const HOLDS_SECRET =
  /:\/\/[^/\s@]+@|(?:passw|passphrase|token|secret|api_?key)[\w.-]*\s*[=:]\s*\S/i;

/**
 * Pure. No list of names that sound like keys is whole, so variables are given that are known to be
 * harmless, and those that the operator names: "NAME", whatever it holds, or "PREFIX_*".
 */
export function planCommandEnvironment(
  variables: Variables,
  { settings, named }: { settings: unknown; named: readonly string[] },
): Record<string, string> {
  const used = variablesIn(JSON.stringify(settings));
  const exact = new Set(named.filter((name) => !name.endsWith("*")));
  const prefixes = named.filter((name) => name.endsWith("*")).map((name) => name.slice(0, -1));
  const isGiven = (name: string, value: string) => {
    if (exact.has(name) || isUsual(name)) return true;
    if (!isOfBuilds(name) && !prefixes.some((prefix) => name.startsWith(prefix))) return false;
    // What settings take from a variable is mostly a key, whatever its name is.
    return !used.has(name) && !SOUNDS_SECRET.test(name) && !HOLDS_SECRET.test(value);
  };
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) =>
      value !== undefined && isGiven(name, value) ? [[name, value]] : [],
    ),
  );
}

/** Names of the variables that a text refers to as `${NAME}`. */
export const variablesIn = (text: string): ReadonlySet<string> =>
  new Set([...text.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g)].map(([, name = ""]) => name));

function oneOf(lists: readonly string[]): (name: string) => boolean {
  const pattern = new RegExp(`^(?:${lists.join("|")})$`, "i");
  return (name) => pattern.test(name);
}
