// Changes settings in the configuration's text so that each change can be undone.
import { isDeepStrictEqual } from "node:util";
import {
  type ArrayNode,
  type DocumentNode,
  type ObjectNode,
  parse,
  type ValueNode,
} from "@humanwhocodes/momoa";
import { removeAt, setInText } from "../../config/edit.ts";
import type { ContainerChange, SettingChange } from "../find/records.ts";

type Path = readonly (string | number)[];

/** One setting to make: a value, or a text at the end of a list. */
export interface SettingStep {
  path: Path;
  value: unknown;
  /** True: `value` is added to the list at `path`. */
  isItem?: boolean;
}

export interface AppliedSteps {
  text: string;
  changes: SettingChange[];
  /** Objects and lists that were made for them, or were empty before. */
  containers: ContainerChange[];
}

/** Pure. Throws when something on the way to a setting is not an object. */
export function applySteps(text: string, steps: readonly SettingStep[]): AppliedSteps {
  let current = text.trim() === "" ? "{}\n" : text;
  const changes: SettingChange[] = [];
  const containers: ContainerChange[] = [];
  for (const step of steps) {
    const document = read(current);
    const list = step.isItem ? find(document, step.path) : undefined;
    const path = step.isItem
      ? [...step.path, list?.type === "Array" ? list.elements.length : 0]
      : [...step.path];
    containers.push(...madeFor(current, document, path));
    const existing = step.isItem ? undefined : find(document, path);
    const before = existing === undefined ? null : sourceOf(current, existing);
    changes.push({
      path: [...step.path],
      before,
      ...(step.isItem && { item: String(step.value) }),
    });
    // A list that is not there yet is made whole: a path into nothing would make an object.
    current =
      step.isItem && list === undefined
        ? setInText(current, step.path, [step.value])
        : setInText(current, path, step.value);
  }
  return { text: current, changes, containers };
}

/**
 * Pure. Takes the changes back, newest first, then what is empty because of it; gives the
 * containers still in use.
 */
export function undoSteps(
  text: string,
  changes: readonly SettingChange[],
  containers: readonly ContainerChange[],
): { text: string; containers: ContainerChange[] } {
  if (text.trim() === "") return { text, containers: [] };
  const undone = changes.toReversed().reduce(undoOne, text);
  const deepestFirst = containers.toSorted((a, b) => b.path.length - a.path.length);
  return deepestFirst.reduce<{ text: string; containers: ContainerChange[] }>(
    (state, container) => {
      const result = prune(state.text, container);
      return {
        text: result.text,
        containers: result.done ? state.containers : [container, ...state.containers],
      };
    },
    { text: undone, containers: [] },
  );
}

/** True when the text holds no setting and no comment. */
export function isBlankConfig(text: string): boolean {
  return text.trim() === "" || /^\s*\{\s*\}\s*$/.test(text);
}

function undoOne(text: string, { path, before, item }: SettingChange): string {
  const document = read(text);
  if (item !== undefined) {
    const list = find(document, path);
    const index =
      list?.type === "Array"
        ? list.elements.findIndex(({ value }) => value.type === "String" && value.value === item)
        : -1;
    return index < 0 ? text : removeAt(text, [...path, index]);
  }
  const node = find(document, path);
  if (node === undefined) return text;
  return before === null ? removeAt(text, path) : replace(text, node, before);
}

function prune(
  text: string,
  { path, emptyText }: ContainerChange,
): { text: string; done: boolean } {
  const document = read(text);
  const node = path.length === 0 ? document.body : find(document, path);
  if (node === undefined) return { text, done: true };
  if (!isContainer(node) || childrenOf(node).length > 0) return { text, done: false };
  const comments = commentsIn(sourceOf(text, node));
  if (emptyText === null)
    return comments.length > 0 ? { text, done: false } : { text: removeAt(text, path), done: true };
  const isAsFound = isDeepStrictEqual(comments, commentsIn(emptyText));
  return { text: isAsFound ? replace(text, node, emptyText) : text, done: true };
}

/**
 * What a step to `path` makes or fills: the empty container it starts in, and
 * every one that was missing.
 */
function madeFor(text: string, document: DocumentNode, path: Path): ContainerChange[] {
  const depth = path.findIndex(
    (_, index) => find(document, path.slice(0, index + 1)) === undefined,
  );
  if (depth < 0) return [];
  const start = depth === 0 ? document.body : find(document, path.slice(0, depth));
  const filled = start !== undefined && isContainer(start) && childrenOf(start).length === 0;
  const missing = path
    .slice(depth, -1)
    .map(
      (_, index): ContainerChange => ({ path: path.slice(0, depth + index + 1), emptyText: null }),
    );
  return [
    ...(filled ? [{ path: path.slice(0, depth), emptyText: sourceOf(text, start) }] : []),
    ...missing,
  ];
}

function read(text: string): DocumentNode {
  return parse(text, { mode: "json5", tokens: true });
}

function find(document: DocumentNode, path: Path): ValueNode | undefined {
  let node: ValueNode | undefined = document.body;
  for (const part of path) {
    if (node?.type === "Array") node = node.elements[Number(part)]?.value;
    else if (node?.type === "Object")
      node = node.members.findLast((member) => nameOf(member) === String(part))?.value;
    else return undefined;
  }
  return node;
}

const isContainer = (node: ValueNode): node is ObjectNode | ArrayNode =>
  node.type === "Object" || node.type === "Array";
const childrenOf = (node: ObjectNode | ArrayNode) =>
  node.type === "Object" ? node.members : node.elements;
const nameOf = ({ name }: ObjectNode["members"][number]) =>
  name.type === "String" ? name.value : name.name;
const sourceOf = (text: string, node: ValueNode) => text.slice(...rangeOf(node));

function replace(text: string, node: ValueNode, by: string): string {
  const [from, to] = rangeOf(node);
  return text.slice(0, from) + by + text.slice(to);
}

function commentsIn(text: string): string[] {
  const { tokens = [] } = read(text);
  return tokens
    .filter(({ type }) => type.endsWith("Comment"))
    .map((token) => text.slice(...rangeOf(token)));
}

function rangeOf({
  loc,
}: {
  loc: { start: { offset: number }; end: { offset: number } };
}): [number, number] {
  return [loc.start.offset, loc.end.offset];
}
