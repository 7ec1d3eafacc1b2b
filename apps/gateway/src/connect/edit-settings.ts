// Changes settings in the text of a client's file, whatever its form, and leaves the rest.
import JSON5 from "json5";
import { removeAt, setInText } from "../config/edit.ts";
import { valueAt } from "../config/path.ts";
import type { Setting, SettingsFormat } from "./connection.ts";
import { readToml, removeInToml, setInToml } from "./edit-toml.ts";
import { readVariables, removeVariable, restoreVariable, setVariable } from "./edit-variables.ts";

/** Pure. What the text says; blank text says nothing. Throws for text of another form. */
export function readSettings(text: string, format: SettingsFormat): unknown {
  if (format === "toml") return readToml(text);
  if (format === "json") return text.trim() === "" ? {} : (JSON5.parse(text) as unknown);
  return readVariables(text);
}

/** Pure. Throws where something on the way is no object, or the text is of another form. */
export function setSettings(
  text: string,
  format: SettingsFormat,
  settings: readonly Setting[],
): string {
  const { lines, restored } = withPlainEnds(text);
  const changed = settings.reduce((before, { path, value }) => {
    if (format === "toml") return setInToml(before, { path, value });
    if (format === "json") return setInText(before, path, value, { dialect: "json" });
    const options = { isShell: format === "shell" };
    return setVariable(before, path[0]!, String(value), options);
  }, lines);
  return restored(changed);
}

/** Pure. It is as it was in `before`. Throws as `setSettings` does. */
export function restoreSetting(
  text: string,
  format: SettingsFormat,
  { before, ...setting }: Setting & { before: string },
): string {
  if (format === "json" || format === "toml") return setSettings(text, format, [setting]);
  const { lines, restored } = withPlainEnds(text);
  return restored(restoreVariable(lines, setting.path[0]!, before));
}

/** A file whose lines all end as on Windows keeps that. */
function withPlainEnds(text: string): { lines: string; restored: (changed: string) => string } {
  const isWindows = text.includes("\r\n") && !/(?<!\r)\n/.test(text);
  if (!isWindows) return { lines: text, restored: (changed) => changed };
  return {
    lines: text.replaceAll("\r\n", "\n"),
    restored: (changed) => changed.replaceAll("\n", "\r\n"),
  };
}

/** Pure. An object on the way that is empty without it goes, too, from `keep` parts on. */
export function removeSetting(
  text: string,
  format: SettingsFormat,
  setting: { path: readonly string[]; keep: number },
): string {
  const { lines, restored } = withPlainEnds(text);
  return restored(removed(lines, format, setting));
}

function removed(
  text: string,
  format: SettingsFormat,
  { path, keep }: { path: readonly string[]; keep: number },
): string {
  if (format === "toml") return removeInToml(text, path);
  if (format !== "json") return removeVariable(text, path[0]!);
  let left = removeAt(text, path);
  for (let length = path.length - 1; length > keep; length--) {
    const outer = path.slice(0, length);
    const value = valueAt(JSON5.parse(left), outer);
    if (typeof value !== "object" || value === null || Object.keys(value).length > 0) break;
    left = removeAt(left, outer);
  }
  return left;
}
