// Changes or removes one setting in the text of a JSON5 file and leaves every other byte.
import { isDeepStrictEqual } from "node:util";
import {
  type ArrayNode,
  type DocumentNode,
  type ObjectNode,
  parse,
  type Token,
  type ValueNode,
} from "@humanwhocodes/momoa";
import JSON5 from "json5";
import { withoutValueAt, withValueAt } from "./path.ts";

type Container = ObjectNode | ArrayNode;
interface Edit {
  from: number;
  to: number;
  text: string;
}

/**
 * Pure. `text` must be JSON5 with an object; blank text is one. The result is read again and
 * compared with what was meant. Throws when something on the way to `path` is neither an object nor
 * a list, or a list index is past its end. `dialect`: "json" = what is added is JSON, also where
 * there are comments; absent = as the file is written.
 */
export function setInText(
  text: string,
  path: readonly (string | number)[],
  given: unknown,
  { dialect }: { dialect?: "json" } = {},
): string {
  // As a file can say it: -0 is 0 there.
  const value: unknown = JSON5.parse(JSON5.stringify(given));
  const source = text.trim() === "" ? `${text}{}\n` : text;
  const document = parse(source, { mode: "json5", tokens: true });
  const strict = dialect === "json" || isStrictJson(document);
  const edit = planEdit(source, document, path, value, strict);
  const result = source.slice(0, edit.from) + edit.text + source.slice(edit.to);
  const expected = withValueAt(JSON5.parse(source), path, value);
  if (!isDeepStrictEqual(JSON5.parse(result), expected))
    throw new Error("the edit would not have the wanted effect; edit the file by hand");
  return result;
}

/**
 * Pure. Removes one member or item with its comma and the white space before it; comments stay. The
 * result is read again and compared. What is not there needs no removing.
 */
export function removeAt(text: string, path: readonly (string | number)[]): string {
  const document = parse(text, { mode: "json5", tokens: true });
  const container = path.slice(0, -1).reduce<ValueNode | undefined>(childIn, document.body);
  if (container?.type !== "Object" && container?.type !== "Array") return text;
  const children = container.type === "Object" ? container.members : container.elements;
  const index =
    container.type === "Array"
      ? Number(path.at(-1))
      : container.members.findIndex((member) => nameOf(member) === String(path.at(-1)));
  const child = children[index];
  if (child === undefined) return text;
  const [start, end] = rangeOf(child);
  const tokens = (document.tokens ?? []).map((token) => ({
    type: token.type,
    from: rangeOf(token)[0],
    to: rangeOf(token)[1],
  }));
  const before = tokens.findLast(({ to }) => to <= start)!;
  const next = tokens.find(({ from, type }) => from >= end && !type.endsWith("Comment"));
  const ownComma = next?.type === "Comma" ? next : undefined;
  const isLast = index === children.length - 1;
  // Without a comma of its own the last child was given the one before it.
  const previousEnd = index > 0 ? rangeOf(children[index - 1]!)[1] : 0;
  const given =
    isLast && ownComma === undefined && index > 0
      ? tokens.find(({ type, from }) => type === "Comma" && from >= previousEnd)
      : undefined;
  const head =
    given === undefined
      ? text.slice(0, before.to)
      : text.slice(0, given.from) + text.slice(given.to, before.to);
  const result = head + text.slice(ownComma?.to ?? end);
  if (!isDeepStrictEqual(JSON5.parse(result), withoutValueAt(JSON5.parse(text), path)))
    throw new Error(`the edit would not have the wanted effect; remove ${path.join(".")} by hand`);
  return result;
}

function planEdit(
  source: string,
  document: DocumentNode,
  path: readonly (string | number)[],
  value: unknown,
  strict: boolean,
): Edit {
  let node: ValueNode = document.body;
  for (const [depth, part] of path.entries()) {
    const child = childOf(node, part);
    if (child === undefined) {
      const rest = path
        .slice(depth + 1)
        .reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
      return planInsert(
        source,
        document,
        containerAt(node, path.slice(0, depth), part),
        part,
        rest,
        strict,
      );
    }
    node = child;
  }
  const [from, to] = rangeOf(node);
  return { from, to, text: render(value, indentAt(source, from), strict) };
}

function childOf(node: ValueNode, part: string | number): ValueNode | undefined {
  if (node.type === "Array") return node.elements[Number(part)]?.value;
  if (node.type !== "Object") return undefined;
  return node.members.findLast((member) => nameOf(member) === String(part))?.value;
}

const childIn = (node: ValueNode | undefined, part: string | number): ValueNode | undefined =>
  node === undefined ? undefined : childOf(node, part);

const nameOf = ({ name }: ObjectNode["members"][number]): string =>
  name.type === "String" ? name.value : name.name;

function containerAt(
  node: ValueNode,
  path: readonly (string | number)[],
  part: string | number,
): Container {
  const isNext = node.type === "Array" && Number(part) === node.elements.length;
  if (node.type === "Object" || isNext) return node as Container;
  const place = path.join(".") || "the file";
  throw new Error(
    node.type === "Array" ? `${place} is a list without item ${part}` : `${place} is not an object`,
  );
}

/** A new member at the end of a container, in the container's own style. */
function planInsert(
  source: string,
  document: DocumentNode,
  node: Container,
  part: string | number,
  value: unknown,
  strict: boolean,
): Edit {
  const [start, end] = rangeOf(node);
  const closing = end - 1;
  const children = node.type === "Object" ? node.members : node.elements;
  const inside = (document.tokens ?? []).filter(
    (token) => rangeOf(token)[0] > start && rangeOf(token)[1] <= closing,
  );
  const outerIndent = indentAt(source, closing);
  const name = node.type === "Array" ? "" : `${keyText(String(part), strict)}: `;

  const last = children.at(-1);
  if (last === undefined) {
    const indent = `${outerIndent}  `;
    const lead = inside.length > 0 ? source.slice(start + 1, closing).trimEnd() : "";
    return {
      from: start + 1,
      to: closing,
      text: `${lead}\n${indent}${name}${render(value, indent, strict)}${strict ? "" : ","}\n${outerIndent}`,
    };
  }
  const lastEnd = rangeOf(last)[1];
  const comma = inside.find((token) => token.type === "Comma" && rangeOf(token)[0] >= lastEnd);
  const isMultiline = source.slice(lastEnd, closing).includes("\n");
  const afterComma = comma === undefined ? lastEnd : rangeOf(comma)[1];
  const at = isMultiline ? endOfComments(source, inside, afterComma) : afterComma;
  const indent = isMultiline ? indentAt(source, rangeOf(last)[0]) : outerIndent;
  const separator = isMultiline ? `\n${indent}` : " ";
  const added = `${separator}${name}${render(value, indent, strict)}${comma === undefined ? "" : ","}`;
  const kept = source.slice(afterComma, at);
  return { from: afterComma, to: at, text: `${comma === undefined ? "," : ""}${kept}${added}` };
}

/** Past the comments that follow `position` on its own line: they speak of what is before them. */
function endOfComments(source: string, tokens: readonly Token[], position: number): number {
  let end = position;
  for (const token of tokens) {
    const [from, to] = rangeOf(token);
    if (from < end) continue;
    if (!token.type.endsWith("Comment") || source.slice(end, from).includes("\n")) break;
    end = to;
  }
  return end;
}

function render(value: unknown, indent: string, strict: boolean): string {
  const text = strict
    ? JSON.stringify(value, null, 2)
    : JSON5.stringify(value, { space: 2, quote: '"' });
  return text.replaceAll("\n", `\n${indent}`);
}

function keyText(name: string, strict: boolean): string {
  return !strict && /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

/**
 * True when the file quotes its first key: then it is written as JSON, so that other
 * programs can go on reading it.
 */
function isStrictJson(document: DocumentNode): boolean {
  return (
    document.body.type === "Object" &&
    document.body.members[0]?.name.type === "String" &&
    !usesJson5(document)
  );
}

function usesJson5(document: DocumentNode): boolean {
  const tokens = document.tokens ?? [];
  return tokens.some((token, index) => {
    if (token.type.endsWith("Comment") || token.type === "Identifier") return true;
    const next = tokens[index + 1]?.type;
    return token.type === "Comma" && (next === "RBrace" || next === "RBracket");
  });
}

function indentAt(source: string, position: number): string {
  const lineStart = source.lastIndexOf("\n", position - 1) + 1;
  return /^[ \t]*/.exec(source.slice(lineStart, position))?.[0] ?? "";
}

function rangeOf({
  loc,
}: {
  loc: { start: { offset: number }; end: { offset: number } };
}): [number, number] {
  return [loc.start.offset, loc.end.offset];
}
