// Sets and removes values at the top of a TOML file, and whole tables, and keeps all else.
import { isDeepStrictEqual } from "node:util";
import { isRecord } from "@clew/plugin-sdk/host";
import { type AST, getStaticTOMLValue, parseTOML } from "toml-eslint-parser";
import { valueAt, withoutValueAt, withValueAt } from "../config/path.ts";
import type { Setting, SettingValue } from "./connection.ts";

/** Throws for text that is no TOML. */
export const readToml = (text: string): unknown => getStaticTOMLValue(parseTOML(text));

/**
 * Pure. An object becomes a table of its own, anything else a value before the first table. The
 * result is read again and compared with what was meant.
 */
export function setInToml(text: string, { path, value }: Setting): string {
  const found = findPart(text, path);
  const isTable = isRecord(value);
  const written = isTable
    ? tableText(path, value)
    : `${path.map(keyText).join(".")} = ${valueText(value)}`;
  const result =
    found !== undefined
      ? text.slice(0, found.from) + written + text.slice(found.to)
      : isTable
        ? appended(text, written)
        : inserted(text, written);
  return checked(result, withValueAt(readToml(text), path, value), path);
}

/** Pure. What is not there needs no removing. */
export function removeInToml(text: string, path: readonly string[]): string {
  const found = findPart(text, path);
  if (found === undefined) return text;
  const rest = text.slice(found.to);
  const behind = /^[ \t]*(?:#[^\n]*)?(?:\r?\n|$)/.exec(rest)?.[0] ?? "";
  // A comment behind it on its line speaks of something else only if somebody wrote it there.
  const cut = behind.includes("#") ? 0 : behind.length;
  const before = text.slice(0, found.from);
  // A table brought the blank line before it along.
  const head = found.isTable ? before.replace(/(\r?\n)\r?\n$/, "$1") : before;
  const result = head + rest.slice(cut);
  return checked(result, planRemoved(text, result, path), path);
}

/** A table that only its inner ones spoke of goes with the last of them. */
function planRemoved(text: string, result: string, path: readonly string[]): unknown {
  let expected = withoutValueAt(readToml(text), path);
  for (let length = path.length - 1; length > 0; length--) {
    const outer = path.slice(0, length);
    const left = valueAt(expected, outer);
    const isEmpty = isRecord(left) && Object.keys(left).length === 0;
    if (!isEmpty || valueAt(readToml(result), outer) !== undefined) break;
    expected = withoutValueAt(expected, outer);
  }
  return expected;
}

interface Part {
  from: number;
  to: number;
  isTable: boolean;
}

function findPart(text: string, path: readonly string[]): Part | undefined {
  const [top] = parseTOML(text).body;
  const node = top.body.find((each) => isDeepStrictEqual(nameOf(each), path));
  if (node === undefined) return undefined;
  const [from, to] = node.range;
  return { from, to, isTable: node.type === "TOMLTable" };
}

function nameOf(node: AST.TOMLKeyValue | AST.TOMLTable): readonly (string | number)[] {
  if (node.type === "TOMLTable") return node.kind === "standard" ? node.resolvedKey : [];
  return node.key.keys.map((key) => (key.type === "TOMLBare" ? key.name : key.value));
}

function appended(text: string, table: string): string {
  const body = text.trimEnd();
  return body === "" ? `${table}\n` : `${body}\n\n${table}\n`;
}

/** Behind the last value of the top, so that no comment before a table changes its meaning. */
function inserted(text: string, line: string): string {
  const [top] = parseTOML(text).body;
  const last = top.body.findLast(({ type }) => type === "TOMLKeyValue");
  if (last === undefined) return text.trim() === "" ? `${line}\n` : `${line}\n\n${text}`;
  const feed = text.indexOf("\n", last.range[1]);
  const at = feed < 0 ? text.length : feed + 1;
  return `${text.slice(0, at)}${feed < 0 ? "\n" : ""}${line}\n${text.slice(at)}`;
}

function checked(result: string, expected: unknown, path: readonly string[]): string {
  let meant: unknown;
  try {
    meant = readToml(result);
  } catch {
    meant = undefined;
  }
  if (isDeepStrictEqual(meant, expected)) return result;
  throw new Error(`${path.join(".")} is written there in a way that is not known; set it by hand`);
}

function tableText(
  path: readonly string[],
  table: { readonly [name: string]: SettingValue },
): string {
  const lines = Object.entries(table).map(
    ([name, value]) => `${keyText(name)} = ${valueText(value)}`,
  );
  return [`[${path.map(keyText).join(".")}]`, ...lines].join("\n");
}

const keyText = (name: string): string => (/^[\w-]+$/.test(name) ? name : JSON.stringify(name));

function valueText(value: SettingValue): string {
  if (Array.isArray(value)) return `[${value.map(valueText).join(", ")}]`;
  if (!isRecord(value)) return JSON.stringify(value);
  const members = Object.entries(value as Record<string, SettingValue>).map(
    ([name, member]) => `${keyText(name)} = ${valueText(member)}`,
  );
  return `{ ${members.join(", ")} }`;
}
