// Which part of a text is shown at once.
import { capToolResults, headOf, textOf } from "@clew/plugin-sdk/transcript";

/** Where to begin and end in a text. */
export interface SliceRequest {
  /** Characters to skip. Absent: none. */
  readonly offset?: number | undefined;
  /** First line, from 1. Absent: the first. */
  readonly fromLine?: number | undefined;
  /** Last line. Absent: the last. */
  readonly toLine?: number | undefined;
}

/** A part of a text. */
export interface Slice {
  readonly shown: string;
  /** Character where it begins, and where it ends. */
  readonly from: number;
  readonly to: number;
  /** True: more was asked for than there is room for. */
  readonly isCut: boolean;
}

/** No surrogate pair is torn. */
export function sliceOf(text: string, asked: SliceRequest, room: number): Slice {
  const from = asked.offset ?? lineStart(text, asked.fromLine ?? 1);
  const end = asked.toLine === undefined ? text.length : lineStart(text, asked.toLine + 1);
  const wanted = text.slice(from, Math.max(from, end));
  // At least one character, or nobody could go on.
  const shown = headOf(wanted, room) || headOf(wanted, 2);
  return { shown, from, to: from + shown.length, isCut: shown.length < wanted.length };
}

function lineStart(text: string, line: number): number {
  let start = 0;
  for (let number = 1; number < line; number++) {
    const feed = text.indexOf("\n", start);
    if (feed < 0) return text.length;
    start = feed + 1;
  }
  return start;
}

/** Characters of one answer: 32 KB of plain text. */
const PAGE_CHARS = 32_768;
/** For what stands around the text. */
const AROUND_CHARS = 700;
const CHARS_PER_TOKEN = 3;

/** Hosts leave more of what is read because it was asked for. */
const READER = "lcm_describe";

/** What limits an answer. */
export interface PageLimits {
  /** Tokens. Absent: no such limit. */
  readonly tokenCap?: number | undefined;
  /** Of the text. Absent: 32 KB. */
  readonly maxChars?: number | undefined;
  /** The model's, in tokens; hosts cut longer results by it. Absent: not known. */
  readonly contextWindow?: number | undefined;
}

/** Characters of text that an answer has room for. */
export function pageRoom({ tokenCap, maxChars = PAGE_CHARS, contextWindow }: PageLimits): number {
  return Math.max(
    1,
    Math.min(
      maxChars,
      tokenCap === undefined ? Infinity : tokenCap * CHARS_PER_TOKEN,
      contextWindow === undefined ? Infinity : shownOf(maxChars, contextWindow),
    ),
  );
}

/** What a host leaves of a result of this length in this window. */
function shownOf(chars: number, contextWindow: number): number {
  const text = "x".repeat(chars + AROUND_CHARS);
  const result = { role: "toolResult", toolCallId: "", toolName: READER, isError: false } as const;
  const content = [{ type: "text" as const, text }];
  const [shown] = capToolResults([{ ...result, content }], contextWindow, READER);
  return textOf(shown!).length - textOf(shown!).replaceAll("x", "").length - AROUND_CHARS;
}
