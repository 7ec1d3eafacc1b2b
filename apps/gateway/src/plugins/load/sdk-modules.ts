// What plugins get when they import the SDK of OpenClaw.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const SDK = "openclaw/plugin-sdk";

const require = createRequire(import.meta.url);

/** Specifier → what of ours stands behind it. */
const OFFERED: ReadonlyMap<string, string> = new Map([
  [SDK, "#sdk-core"],
  [`${SDK}/core`, "#sdk-core"],
  [`${SDK}/plugin-entry`, "#plugin-entry"],
  [`${SDK}/session-transcript-runtime`, "#session-transcript-runtime"],
  [`${SDK}/memory-host-core`, "@clew/plugin-sdk/memory-host-core"],
  [`${SDK}/logging-core`, "#logging-core"],
]);

export const isOfOpenClaw = (specifier: string): boolean =>
  specifier === "openclaw" || specifier.startsWith("openclaw/");

/** What an import comes to. */
export type SdkModule =
  | { kind: "module"; url: string; lacking: readonly string[] }
  | { kind: "none"; message: string };

/**
 * `names`: those without which the importer cannot be linked; undefined = it can do without the
 * module. What we lack of them is there all the same and throws when it is used: a plugin may never
 * come to it.
 */
export function sdkModule(
  pluginId: string,
  specifier: string,
  names: readonly string[] | undefined,
): SdkModule {
  const target = OFFERED.get(specifier);
  if (target === undefined && names === undefined)
    return {
      kind: "none",
      message: `Plugin "${pluginId}" imports "${specifier}", which Clew does not offer; it offers ${[...OFFERED.keys()].join(", ")}.`,
    };
  const file = target === undefined ? undefined : require.resolve(target);
  const lacking = (names ?? []).filter((name) => file === undefined || !has(file, name));
  const url = file === undefined ? undefined : pathToFileURL(file).href;
  return url !== undefined && lacking.length === 0
    ? { kind: "module", url, lacking }
    : { kind: "module", url: standIn({ pluginId, specifier, lacking, url }), lacking };
}

const has = (file: string, name: string): boolean => Object.hasOwn(require(file) as object, name);

/** A module of what we have of it, and of names that throw. */
function standIn({
  pluginId,
  specifier,
  lacking,
  url,
}: {
  pluginId: string;
  specifier: string;
  lacking: readonly string[];
  url: string | undefined;
}): string {
  const about = JSON.stringify(`Plugin "${pluginId}" uses `);
  const code = JSON.stringify({ code: "PLUGIN_INVALID" });
  const of = JSON.stringify(` of "${specifier}", which Clew does not offer.`);
  const lines = [
    ...(url === undefined ? [] : [`export * from ${JSON.stringify(url)};`]),
    `const lack = (name) => function () { throw Object.assign(new Error(${about} + name + ${of}), ${code}); };`,
    ...lacking.map((name, at) => `const n${at} = lack(${JSON.stringify(name)});`),
    ...lacking.map((name, at) => `export { n${at} as ${name} };`),
  ];
  return `data:text/javascript,${encodeURIComponent(lines.join("\n"))}`;
}
