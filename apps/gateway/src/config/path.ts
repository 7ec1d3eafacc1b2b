// How a setting is named on the command line.
import { isRecord } from "@clew/plugin-sdk/host";

/** "plugins.entries[\"a.b\"].enabled" → its parts; null when it is malformed. */
export function parseSettingPath(text: string): (string | number)[] | null {
  const parts: (string | number)[] = [];
  const token = /\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|(?:^|\.)([^.[\]"\s]+)/gy;
  let end = 0;
  for (let match = token.exec(text); match !== null; match = token.exec(text)) {
    end = token.lastIndex;
    if (match[1] !== undefined) parts.push(JSON.parse(`"${match[1]}"`) as string);
    else if (match[2] !== undefined) parts.push(Number(match[2]));
    else parts.push(match[3] ?? "");
  }
  const forbidden = parts.some(
    (part) => part === "__proto__" || part === "constructor" || part === "prototype",
  );
  return end === text.length && parts.length > 0 && !forbidden ? parts : null;
}

/** A name with a slash whose dots would part it: "openai/gpt-5.5". */
const DOTTED_NAME = /(?:^|\.)([^.[\]"\s]*\/[^.[\]"\s]*(?:\.\d[^.[\]"\s]*)+)/;

/** `text` with such a name in brackets, where a dot would part it; null: none would. */
export function inBrackets(text: string): string | null {
  const [part, name] = DOTTED_NAME.exec(text) ?? [];
  return part === undefined ? null : text.replace(part, `["${name}"]`);
}

/** The value at `path`, or undefined. Reads own properties only. */
export function valueAt(root: unknown, path: readonly (string | number)[]): unknown {
  let value = root;
  for (const part of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part))
      return undefined;
    value = (value as Record<string | number, unknown>)[part];
  }
  return value;
}

/** A copy of `root` with `value` at `path`; missing objects are made. */
export function withValueAt(
  root: unknown,
  path: readonly (string | number)[],
  value: unknown,
): unknown {
  const [part, ...rest] = path;
  if (part === undefined) return value;
  if (Array.isArray(root))
    return root.toSpliced(Number(part), 1, withValueAt(root[Number(part)], rest, value));
  const object = isRecord(root) ? root : {};
  return { ...object, [part]: withValueAt(object[part], rest, value) };
}

/** A copy of `root` without what is at `path`. */
export function withoutValueAt(
  root: unknown,
  [part, ...rest]: readonly (string | number)[],
): unknown {
  if (part === undefined || typeof root !== "object" || root === null) return root;
  if (Array.isArray(root)) {
    const index = Number(part);
    return rest.length === 0
      ? root.toSpliced(index, 1)
      : root.with(index, withoutValueAt(root[index], rest));
  }
  const { [part]: child, ...others } = root as Record<string, unknown>;
  return rest.length === 0 ? others : { ...(root as object), [part]: withoutValueAt(child, rest) };
}
