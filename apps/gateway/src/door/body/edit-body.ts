// A client's body with single values replaced and every other byte as it was.
import { elementSpans, memberSpans, type Span } from "./spans.ts";

/** What becomes of a body. */
export interface BodyEdits {
  /** New values of members, by their names from the outside in; none is added. */
  values: readonly { path: readonly string[]; value: string | number }[];
  /** The list of messages, by its name. */
  list: string;
  /** What becomes of single messages, by index: another one, or null for none. */
  messages: ReadonlyMap<number, object | null>;
}

/** The same text when there is nothing to change. `body` must be JSON with an object. */
export function editBody(body: string, { values, list, messages }: BodyEdits): string {
  if (values.length === 0 && messages.size === 0) return body;
  const members = memberSpans(body);
  const changes: (Span & { text: string })[] = values.flatMap(({ path, value }) => {
    const span = spanAt(body, members, path);
    return span === undefined ? [] : [{ ...span, text: JSON.stringify(value) }];
  });
  const listed = members.get(list);
  if (messages.size > 0 && listed !== undefined && body[listed.start] === "[")
    changes.push({ ...listed, text: editList(body, listed, messages) });
  changes.sort((a, b) => a.start - b.start);
  let edited = "";
  let at = 0;
  for (const { start, end, text } of changes) {
    edited += body.slice(at, start) + text;
    at = end;
  }
  return edited + body.slice(at);
}

function editList(
  body: string,
  listed: Span,
  messages: ReadonlyMap<number, object | null>,
): string {
  const kept = elementSpans(body, listed.start).flatMap(({ start, end }, index) => {
    const edit = messages.get(index);
    if (edit === null) return [];
    return [edit === undefined ? body.slice(start, end) : JSON.stringify(edit)];
  });
  return `[${kept.join(",")}]`;
}

function spanAt(
  body: string,
  members: ReadonlyMap<string, Span>,
  [name = "", ...inner]: readonly string[],
): Span | undefined {
  const span = members.get(name);
  if (span === undefined || inner.length === 0) return span;
  return body[span.start] === "{" ? spanAt(body, memberSpans(body, span.start), inner) : undefined;
}
