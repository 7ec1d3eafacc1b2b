// What code adds to a model's summary, and how it all fits.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import {
  escapeTags,
  type FileOperations,
  formatToolFailure,
  headOf,
  isUserTurn,
  splitLedger,
  splitTurns,
  type ToolFailure,
  tailOf,
  textOf,
  toolFailures,
  withLedger,
} from "@clew/plugin-sdk/transcript";

/** Spec "compaction" §2.6; characters. */
export const SECTION_LIMITS = {
  recentMessage: 600,
  recentTurns: 8000,
  failures: 8,
  fileList: 900,
  files: 2000,
  openRequest: 800,
} as const;

export const HEADING = {
  openRequest: "## Open request",
  recentTurns: "## Recent turns preserved verbatim",
  toolFailures: "## Tool Failures",
} as const;

const SPLIT_TURN = "\n\n---\n\n**Turn Context (split turn):**\n\n";
const BODY_CUT = "\n\n[Compaction summary truncated to fit budget]";
const SUFFIX_CUT = "[Earlier compaction context truncated to fit budget]";

export interface SummaryParts {
  /** The model's text, or the one made by code. */
  body: string;
  /** Summary of the beginning of the turn that is cut in two. */
  prefix?: string | undefined;
  /**
   * Text of the request that nobody has answered and that no longer stands in
   * the context as a message.
   */
  openRequest?: string | undefined;
  recentTurns: string;
  failures: string;
  files: string;
  /** Text of the ledger; empty or absent = none. */
  ledger?: string;
}

const OPEN_REQUEST = ["<open-request>\n", "\n</open-request>\n\n"] as const;

/** A request as it was made, byte for byte, under its heading. */
const openRequestSection = (text: string): string =>
  `${HEADING.openRequest}\n${OPEN_REQUEST[0]}${text}${OPEN_REQUEST[1]}`;

/**
 * One text: the open request, whole, then at most `maxChars` of body and added sections, and the
 * ledger, which has a bound of its own. When they are too long the body keeps at least half of the
 * room, and the suffix loses its first segments.
 */
export function joinSummary(
  { openRequest, ledger = "", ...parts }: SummaryParts,
  maxChars: number,
): string {
  const head = openRequest === undefined ? "" : openRequestSection(openRequest);
  return withLedger(head + joinBody(parts, maxChars), ledger);
}

function joinBody(
  { body, prefix, ...rest }: Omit<SummaryParts, "openRequest" | "ledger">,
  maxChars: number,
): string {
  const segments = [
    ...(prefix === undefined ? [] : [`${SPLIT_TURN}${prefix}`]),
    ...[rest.recentTurns, rest.failures, rest.files]
      .filter((text) => text !== "")
      .map((text) => `\n\n${text}`),
  ];
  const suffixLength = segments.reduce((sum, { length }) => sum + length, 0);
  if (body.length + suffixLength <= maxChars) return body + segments.join("");
  const shortBody = cutBody(body, Math.max(Math.floor(maxChars / 2), maxChars - suffixLength));
  return shortBody + cutSuffix(segments, maxChars - shortBody.length);
}

function cutBody(body: string, room: number): string {
  if (body.length <= room) return body;
  return headOf(body, room - BODY_CUT.length) + BODY_CUT;
}

/** Whole segments from the end, as many as fit. */
function cutSuffix(segments: readonly string[], room: number): string {
  const total = segments.reduce((sum, { length }) => sum + length, 0);
  if (total <= room) return segments.join("");
  let left = room - SUFFIX_CUT.length - 2;
  const kept: string[] = [];
  for (const segment of segments.toReversed()) {
    if (segment.length > left) break;
    kept.unshift(segment);
    left -= segment.length;
  }
  return left < 0 ? "" : `\n\n${SUFFIX_CUT}${kept.join("")}`;
}

/**
 * Text of people and model in the newest turns, at most 600 characters per message and 8,000 in
 * all; empty when there is none.
 */
export function recentTurnsSection(
  messages: readonly AgentMessage[],
  turns: number,
  maxChars: number = SECTION_LIMITS.recentTurns,
): string {
  if (turns <= 0) return "";
  const ranges = splitTurns(messages)
    .filter(({ start }) => isUserTurn(messages[start]!))
    .slice(-turns);
  const first = ranges[0]?.start ?? messages.length;
  const lines: string[] = [];
  let left = Math.min(maxChars, SECTION_LIMITS.recentTurns) - HEADING.recentTurns.length;
  for (const message of messages.slice(first).reverse()) {
    const text =
      message.role === "user" || message.role === "assistant" ? textOf(message).trim() : "";
    if (text === "") continue;
    const line = `[${message.role === "user" ? "User" : "Assistant"}]: ${quoted(headAndTail(text, SECTION_LIMITS.recentMessage))}`;
    if (line.length + 1 > left) break;
    lines.unshift(line);
    left -= line.length + 1;
  }
  return lines.length === 0 ? "" : [HEADING.recentTurns, ...lines].join("\n");
}

/** Further lines are indented, so that a heading in a quotation is not one of the summary's. */
const quoted = (text: string) => escapeTags(text).replaceAll("\n", "\n  ");

/** `## Tool Failures` with at most eight lines, the newest last; empty when nothing failed. */
export function toolFailuresSection(messages: readonly AgentMessage[]): string {
  const failures: ToolFailure[] = toolFailures(messages);
  if (failures.length === 0) return "";
  const shown = failures.slice(-SECTION_LIMITS.failures).map(formatToolFailure);
  const more = failures.length - shown.length;
  return [HEADING.toolFailures, ...shown, ...(more > 0 ? [`- ...and ${more} more`] : [])].join(
    "\n",
  );
}

/**
 * `<read-files>` and `<modified-files>`, sorted, at most 900 characters each;
 * empty lists are left out.
 */
export function fileSection({ readFiles, modifiedFiles }: FileOperations): string {
  const lists = [
    fileList("modified-files", modifiedFiles),
    fileList("read-files", readFiles),
  ].filter((list) => list !== "");
  return lists.join("\n").length <= SECTION_LIMITS.files
    ? lists.reverse().join("\n")
    : (lists[0] ?? "");
}

function fileList(tag: string, paths: readonly string[]): string {
  if (paths.length === 0) return "";
  const shown: string[] = [];
  let left =
    SECTION_LIMITS.fileList - 2 * tag.length - "<>\n\n</>".length - "...and 99999 more\n".length;
  for (const path of paths) {
    if (path.length + 1 > left) break;
    shown.push(path);
    left -= path.length + 1;
  }
  const more = paths.length - shown.length;
  return [`<${tag}>`, ...shown, ...(more > 0 ? [`...and ${more} more`] : []), `</${tag}>`].join(
    "\n",
  );
}

/** `text`, or its beginning and end with a sign between them; at most `limit` characters. */
export function headAndTail(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const half = Math.floor((limit - 3) / 2);
  return `${headOf(text, half)} … ${tailOf(text, half)}`;
}

/** An earlier summary without the sections that are made again each time. */
export function withoutAddedSections(text: string): string {
  const { summary } = splitLedger(text);
  const body = summary.startsWith(HEADING.openRequest)
    ? summary.slice(Math.max(0, summary.indexOf(OPEN_REQUEST[1]) + OPEN_REQUEST[1].length))
    : summary;
  const kept: string[] = [];
  let skipping = false;
  for (const line of body.split("\n")) {
    if (/^<(?:read|modified)-files>$/.test(line) || line === HEADING.recentTurns) skipping = true;
    else if (line.startsWith("## ") || line === "---") skipping = false;
    if (!skipping) kept.push(line);
    if (/^<\/(?:read|modified)-files>$/.test(line)) skipping = false;
  }
  return kept.join("\n").trim();
}

/** Headings one level down: a text inside a summary must not repeat the summary's own. */
export const demoteHeadings = (text: string): string => text.replace(/^## /gm, "### ");
