// Reads the little Markdown that models write into a tree of plain values.

export type Inline =
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  | { kind: "strong" | "emphasis"; children: readonly Inline[] }
  /** `href` is http, https or mailto. */
  | { kind: "link"; text: string; href: string };

export type Block =
  | { kind: "heading"; level: number; children: readonly Inline[] }
  | { kind: "paragraph"; children: readonly Inline[] }
  | { kind: "list"; start: number | null; items: readonly (readonly Inline[])[] }
  | { kind: "quote"; children: readonly Inline[] }
  /** Code, and tables as they were typed. */
  | { kind: "preformatted"; text: string }
  | { kind: "rule" };

const FENCE = /^\s{0,3}(`{3,}|~{3,})/;
const HEADING = /^(#{1,6})\s+(.+)$/;
const BULLET = /^\s*[-*+]\s+(.*)$/;
const NUMBERED = /^\s*(\d{1,9})[.)]\s+(.*)$/;
const QUOTE = /^\s*>\s?(.*)$/;
const TABLE_ROW = /^\s*\|.*\|\s*$/;
const RULE = /^\s*(?:-{3,}|\*{3,}|_{3,})\s*$/;

/**
 * Pure; linear in the text. An open code fence runs to the end, as it does
 * while a reply is arriving.
 */
export function parseMarkdown(text: string): Block[] {
  const lines = text.split("\n");
  const blocks: Block[] = [];
  for (let index = 0; index < lines.length; ) {
    const { block, next } = readBlock(lines, index);
    if (block !== null) blocks.push(block);
    index = next;
  }
  return blocks;
}

function readBlock(lines: readonly string[], index: number): { block: Block | null; next: number } {
  const line = lines[index]!;
  if (line.trim() === "") return { block: null, next: index + 1 };
  const fence = FENCE.exec(line)?.[1];
  if (fence !== undefined) {
    const end = endOf(lines, index + 1, (each) => !each.trim().startsWith(fence));
    return {
      block: { kind: "preformatted", text: lines.slice(index + 1, end).join("\n") },
      next: end + 1,
    };
  }
  const heading = HEADING.exec(line);
  if (heading !== null)
    return {
      block: { kind: "heading", level: heading[1]!.length, children: parseInline(heading[2]!) },
      next: index + 1,
    };
  if (RULE.test(line)) return { block: { kind: "rule" }, next: index + 1 };
  if (TABLE_ROW.test(line)) {
    const end = endOf(lines, index, (each) => TABLE_ROW.test(each));
    return { block: { kind: "preformatted", text: lines.slice(index, end).join("\n") }, next: end };
  }
  if (QUOTE.test(line)) {
    const end = endOf(lines, index, (each) => QUOTE.test(each));
    const quoted = lines.slice(index, end).map((each) => QUOTE.exec(each)?.[1] ?? each);
    return { block: { kind: "quote", children: parseInline(quoted.join("\n")) }, next: end };
  }
  for (const pattern of [BULLET, NUMBERED])
    if (pattern.test(line)) return readList(lines, index, pattern);
  const end = Math.max(index + 1, endOf(lines, index + 1, isParagraphLine));
  return {
    block: { kind: "paragraph", children: parseInline(lines.slice(index, end).join("\n")) },
    next: end,
  };
}

function readList(
  lines: readonly string[],
  index: number,
  pattern: RegExp,
): { block: Block; next: number } {
  const items: string[] = [];
  let next = index;
  for (; next < lines.length; next++) {
    const line = lines[next]!;
    const item = pattern.exec(line);
    if (item !== null) items.push(item.at(-1)!);
    else if (/^\s{2,}\S/.test(line)) items.push(`${items.pop() ?? ""}\n${line.trim()}`);
    else break;
  }
  const start = pattern === NUMBERED ? Number(NUMBERED.exec(lines[index]!)?.[1] ?? 1) : null;
  return { block: { kind: "list", start, items: items.map(parseInline) }, next };
}

function isParagraphLine(line: string): boolean {
  return (
    line.trim() !== "" &&
    ![FENCE, HEADING, BULLET, NUMBERED, QUOTE, TABLE_ROW, RULE].some((pattern) =>
      pattern.test(line),
    )
  );
}

/** The first line from `from` on that does not belong. */
function endOf(lines: readonly string[], from: number, belongs: (line: string) => boolean): number {
  let index = from;
  while (index < lines.length && belongs(lines[index]!)) index++;
  return index;
}

// Lengths are bounded so that a line of nothing but opening marks costs no more than its length.
const INLINE = [
  /`(?<code>[^`\n]{1,400})`/,
  /\*\*(?!\s)(?<strong>[^\n]{1,400}?)(?<!\s)\*\*(?!\*)/,
  /\*(?!\s)(?<star>[^*\n]{1,400})(?<!\s)\*/,
  /(?<!\w)_(?!\s)(?<bar>[^_\n]{1,400})(?<!\s)_(?!\w)/,
  /\[(?<label>[^[\]\n]{1,400})\]\((?<target>(?:https?:\/\/|mailto:)[^\s()]{1,1000})\)/,
  /(?<bare>https?:\/\/[^\s<>"'`()]{1,1000}[^\s<>"'`().,;:!?])/,
]
  .map(({ source }) => source)
  .join("|");

function parseInline(text: string): Inline[] {
  const parts: Inline[] = [];
  let end = 0;
  for (const match of text.matchAll(new RegExp(INLINE, "g"))) {
    if (match.index > end) parts.push({ kind: "text", text: text.slice(end, match.index) });
    parts.push(toInline(match.groups ?? {}, match[0]));
    end = match.index + match[0].length;
  }
  if (end < text.length) parts.push({ kind: "text", text: text.slice(end) });
  return parts;
}

function toInline(
  { code, strong, star, bar, label, target, bare }: Record<string, string | undefined>,
  whole: string,
): Inline {
  if (code !== undefined) return { kind: "code", text: code };
  if (strong !== undefined) return { kind: "strong", children: parseInline(strong) };
  const emphasis = star ?? bar;
  if (emphasis !== undefined) return { kind: "emphasis", children: parseInline(emphasis) };
  if (label !== undefined && target !== undefined)
    return { kind: "link", text: label, href: target };
  return { kind: "link", text: bare ?? whole, href: bare ?? whole };
}
