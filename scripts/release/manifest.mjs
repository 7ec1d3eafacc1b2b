// Turns a package's manifest into the published one.

/** Our own export condition, which leads to TypeScript that is not in a tarball. */
const SOURCE = "@clew/source";

/**
 * The one place that says where the code lives: `repository.url` of the root package.json. `fault`
 * is a sentence when nothing may be published with it.
 *
 * @param {{ [field: string]: any }} root
 * @returns {{ url: string, web: string, fault?: undefined } | { fault: string }}
 */
export function repositoryOf(root) {
  const url = root.repository?.url ?? "";
  const found = /^git\+(https:\/\/([^/]+)\/([^/]+)\/([^/]+))\.git$/.exec(url);
  if (found === null || /^OWNER$/i.test(found[3]) || /(^|\.)(example|invalid)(\.|$)/.test(found[2]))
    return {
      fault:
        `Nothing can be published: "repository.url" in the root package.json is ` +
        `${url === "" ? "missing" : `the placeholder ${url}`}; ` +
        `set it to the address of the repository, git+https://HOST/OWNER/NAME.git.`,
    };
  return { url, web: found[1] };
}

/**
 * The manifest as it stands in the tarball. Without a repository the addresses are left
 * out rather than invented.
 *
 * @template {Record<string, any>} T
 * @param {T} manifest
 * @param {{ root: { [field: string]: any }, directory: string }} place
 * `directory` is relative to the root
 * @returns {Record<string, any>}
 */
export function publishedManifest(manifest, { root, directory }) {
  const { scripts: _, devDependencies: __, ...kept } = manifest;
  const repository = repositoryOf(root);
  return {
    ...kept,
    ...(kept.exports && { exports: withoutSource(kept.exports) }),
    ...(kept.imports && { imports: withoutSource(kept.imports) }),
    ...(repository.fault === undefined && {
      repository: { type: "git", url: repository.url, directory },
      bugs: { url: `${repository.web}/issues` },
      homepage: `${repository.web}/tree/main/${directory}#readme`,
    }),
  };
}

function withoutSource(conditions) {
  if (typeof conditions !== "object" || conditions === null) return conditions;
  return Object.fromEntries(
    Object.entries(conditions)
      .filter(([condition]) => condition !== SOURCE)
      .map(([condition, target]) => [condition, withoutSource(target)]),
  );
}
