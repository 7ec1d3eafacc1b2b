// What a person is told of a plugin before any of its code runs.

import { visible } from "../../text/visible.ts";
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
  /** It is another plugin than the one that comes with Clew under its id. Absent: it is not. */
  takesBundledId?: boolean;
  /** Where else than at npm its files were fetched. Absent: nowhere. */
  fetchedFrom?: readonly string[];
}

/** Pure. Sentences and lists, from what the plugin's files say; a line each, whatever they hold. */
export function introduce({
  files,
  from,
  size,
  isLink = false,
  replaced = null,
  takesBundledId = false,
  fetchedFrom = [],
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
    ...(takesBundledId
      ? [`  takes the name, settings, slot and data of "${id}", which comes with Clew`]
      : []),
    ...list("takes a slot as", kinds),
    ...list("tools", contracts?.tools),
    ...list("session actions", contracts?.sessionActions),
    ...list("requires", manifest.requiresPlugins),
    ...list("depends on", dependencies),
    ...list("fetched from other places than npm's registry", fetchedFrom),
    ...(size === undefined ? [] : [`  ${describeSize(size)}`]),
    `${isLink ? "Linking" : "Installing"} it runs its code, now and in every gateway of this home, with all rights of your account.`,
  ].map(visible);
}

function describeSize({ files, bytes }: TreeSize): string {
  const amount =
    bytes < 1024 ** 2 ? `${Math.ceil(bytes / 1024)} KiB` : `${Math.ceil(bytes / 1024 ** 2)} MiB`;
  return `${files.toLocaleString("en")} ${files === 1 ? "file" : "files"}, ${amount}`;
}
