// Cuts a reply that is being written into lines that will not change any more.

/** How a line of Markdown is to be shown. */
export type ReplyLine =
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  /** Where code begins; the language, or "". */
  | { kind: "code-start"; text: string }
  | { kind: "table"; rows: readonly string[] };

export interface ReplyText {
  /** What closes the code that was begun; null = there is none. */
  fence: string | null;
  /** Rows of a table that may go on. */
  rows: readonly string[];
  /** Of a line that is not whole. */
  rest: string;
  /** All that was taken. */
  whole: string;
}

export const NO_REPLY: ReplyText = { fence: null, rows: [], rest: "", whole: "" };

const FENCE = /^\s{0,3}(`{3,}|~{3,})\s*([^`]*)$/;
const ROW = /^\s*\|.*\|\s*$/;
/** A longer table is shown row by row. */
const MOST_ROWS = 60;
/** A longer line is broken, so that what is shown anew with each piece stays small. */
const MOST_REST = 4000;

/** Pure. */
export function takeText(
  reply: ReplyText,
  delta: string,
): { reply: ReplyText; lines: ReplyLine[] } {
  const whole = reply.whole + delta;
  const [first = "", ...others] = (reply.rest + delta).replaceAll("\r\n", "\n").split("\n");
  const parts = [first, ...others];
  const rest = parts.pop()!;
  const lines: ReplyLine[] = [];
  let { fence, rows } = reply;
  const take = (text: string) => {
    ({ fence, rows } = takeLine({ fence, rows }, text, lines));
  };
  for (const text of parts) take(text);
  if (rest.length <= MOST_REST) return { reply: { fence, rows, rest, whole }, lines };
  const at = rest.lastIndexOf(" ", MOST_REST);
  const end = at > 0 ? at + 1 : rest.length;
  take(rest.slice(0, end));
  return { reply: { fence, rows, rest: rest.slice(end), whole }, lines };
}

/** Pure. The lines of what is left, as there comes no more. */
export function endText(reply: ReplyText): ReplyLine[] {
  const lines: ReplyLine[] = [];
  const { rows } = reply.rest === "" ? reply : takeLine(reply, reply.rest, lines);
  if (rows.length > 0) lines.push({ kind: "table", rows });
  return lines;
}

/** Pure. */
export function linesOf(text: string): ReplyLine[] {
  const { reply, lines } = takeText(NO_REPLY, text);
  return [...lines, ...endText(reply)];
}

function takeLine(
  { fence, rows }: Pick<ReplyText, "fence" | "rows">,
  text: string,
  lines: ReplyLine[],
): Pick<ReplyText, "fence" | "rows"> {
  if (fence !== null) {
    if (text.trim().startsWith(fence) && /^[`~\s]*$/.test(text)) return { fence: null, rows: [] };
    lines.push({ kind: "code", text });
    return { fence, rows: [] };
  }
  if (ROW.test(text)) {
    if (rows.length < MOST_ROWS) return { fence, rows: [...rows, text] };
    lines.push({ kind: "table", rows });
    return { fence, rows: [text] };
  }
  if (rows.length > 0) lines.push({ kind: "table", rows });
  const [, opened, language = ""] = FENCE.exec(text) ?? [];
  if (opened !== undefined) {
    lines.push({ kind: "code-start", text: language.trim() });
    return { fence: opened, rows: [] };
  }
  lines.push({ kind: "text", text });
  return { fence, rows: [] };
}
