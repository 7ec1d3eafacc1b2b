// A client's body with single values replaced and every other byte as it was.
import { toJson } from "../../own-json.ts";
import { type BodyOutline, bytesAsText } from "./outline.ts";
import { allMemberSpans, type Span } from "./spans.ts";

/** What becomes of a body. */
export interface BodyEdits {
  /** New values of members, by their names from the outside in; none is added. */
  values: readonly { path: readonly string[]; value: unknown }[];
  /** What becomes of single messages, by index: another one, or null for none. */
  messages: ReadonlyMap<number, object | null>;
  /** Behind the last message. Absent: nothing. */
  added?: readonly object[];
}

/** The same bytes when there is nothing to change. */
export function editBody(outline: BodyOutline, edits: BodyEdits): Uint8Array {
  const { values, messages, added = [] } = edits;
  const { bytes, list } = outline;
  if (values.length === 0 && messages.size === 0 && added.length === 0) return bytes;
  const changes: (Span & { pieces: readonly Uint8Array[] })[] = [];
  if (values.length > 0) {
    const around = withoutList(outline);
    const members = allMemberSpans(around.text);
    for (const { path, value } of values)
      for (const span of spansAt(around.text, members, path)) {
        const [start, end] = [around.placeOf(span.start), around.placeOf(span.end)];
        changes.push({ start, end, pieces: [asBytes(value)] });
      }
  }
  if (messages.size + added.length > 0 && list !== undefined)
    changes.push({ ...list, pieces: editList(outline, messages, added) });
  changes.sort((a, b) => a.start - b.start);
  const edited: Uint8Array[] = [];
  let at = 0;
  for (const { start, end, pieces } of changes) {
    edited.push(bytes.subarray(at, start), ...pieces);
    at = end;
  }
  return Buffer.concat([...edited, bytes.subarray(at)]);
}

/** What is not in the list, which is longer than all the rest. */
function withoutList({ bytes, list }: BodyOutline) {
  if (list === undefined) return { text: bytesAsText(bytes), placeOf: (at: number) => at };
  const before = bytesAsText(bytes.subarray(0, list.start));
  const behind = bytesAsText(bytes.subarray(list.end));
  const moved = list.end - list.start - 2;
  return {
    text: `${before}[]${behind}`,
    placeOf: (at: number) => (at <= list.start ? at : at + moved),
  };
}

function editList(
  { bytes, elements }: BodyOutline,
  messages: ReadonlyMap<number, object | null>,
  added: readonly object[],
): Uint8Array[] {
  const pieces: Uint8Array[] = [OPEN];
  const add = (piece: Uint8Array) => {
    if (pieces.length > 1) pieces.push(COMMA);
    pieces.push(piece);
  };
  /** Neighbours that stay go together. */
  let run: Span | undefined;
  const addRun = () => {
    if (run !== undefined) add(bytes.subarray(run.start, run.end));
    run = undefined;
  };
  for (const [index, { start, end }] of elements.entries()) {
    const edit = messages.get(index);
    if (edit === undefined && run?.end === start - 1) run = { start: run.start, end };
    else {
      addRun();
      if (edit === undefined) run = { start, end };
      else if (edit !== null) add(messageBytes(edit));
    }
  }
  addRun();
  for (const message of added) add(messageBytes(message));
  return [...pieces, CLOSE];
}

const [OPEN, COMMA, CLOSE] = [Buffer.from("["), Buffer.from(","), Buffer.from("]")];

/** The same message is written with each request again. */
const WRITTEN = new WeakMap<object, Uint8Array>();

function messageBytes(message: object): Uint8Array {
  const written = WRITTEN.get(message) ?? asBytes(message);
  WRITTEN.set(message, written);
  return written;
}

const asBytes = (value: unknown): Uint8Array => Buffer.from(toJson(value));

/** Servers differ in which of two members of one name counts. */
const spansAt = (
  body: string,
  members: readonly (readonly [string, Span])[],
  [name = "", ...inner]: readonly string[],
): Span[] =>
  members.flatMap(([called, span]) => {
    if (called !== name) return [];
    if (inner.length === 0) return [span];
    const isObject = body[span.start] === "{";
    return isObject ? spansAt(body, allMemberSpans(body, span.start), inner) : [];
  });
