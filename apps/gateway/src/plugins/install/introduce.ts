// What a person is told of a plugin before any of its code runs.
import type { PluginFiles } from "../find/manifest.ts";
import { kindsOf } from "../load/hook-rules.ts";
import type { TreeSize } from "./check-tree.ts";

export interface Introduction {
  files: PluginFiles;
  /** As the person named it. */
  from: string;
  /** Of what would be kept. Absent: it stays where it is. */
  size?: TreeSize;
  isLink?: boolean;
  /** What is installed under its id now; null = nothing is. Absent: the same. */
  replaced?: { version: string | null } | null;
}

/** Pure. Sentences and lists, from what the plugin's files say. */
export function introduce({
  files,
  from,
  size,
  isLink = false,
  replaced = null,
}: Introduction): string[] {
  const { manifest, packageJson } = files;
  const { id, name = id, description, contracts } = manifest;
  const version = packageJson.version ?? manifest.version;
  const kinds = kindsOf(manifest.kind);
  const dependencies = Object.keys(packageJson.dependencies ?? {});
  const list = (label: string, names: readonly string[] | undefined) =>
    names === undefined || names.length === 0 ? [] : [`  ${label}: ${names.join(", ")}`];
  return [
    `${name}${version === undefined ? "" : ` ${version}`} (${id}), from ${from}`,
    ...(description === undefined ? [] : [`  ${description}`]),
    ...(replaced === null
      ? []
      : [
          `  takes the place of ${replaced.version ?? "a version without a number"}, which is installed`,
        ]),
    ...list("takes a slot as", kinds),
    ...list("tools", contracts?.tools),
    ...list("session actions", contracts?.sessionActions),
    ...list("requires", manifest.requiresPlugins),
    ...list("depends on", dependencies),
    ...(size === undefined ? [] : [`  ${describeSize(size)}`]),
    `${isLink ? "Linking" : "Installing"} it runs its code, now and in every gateway of this home, with all rights of your account.`,
  ];
}

function describeSize({ files, bytes }: TreeSize): string {
  const amount =
    bytes < 1024 ** 2 ? `${Math.ceil(bytes / 1024)} KiB` : `${Math.ceil(bytes / 1024 ** 2)} MiB`;
  return `${files.toLocaleString("en")} ${files === 1 ? "file" : "files"}, ${amount}`;
}
