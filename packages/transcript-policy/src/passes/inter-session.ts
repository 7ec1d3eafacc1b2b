// Marks the user messages that another session or a tool wrote.
import { definePass, mapChanged } from "../pass.ts";
import {
  blockText,
  fieldOf,
  isBlank,
  nonBlank,
  roleOf,
  type StoredBlock,
  type StoredMessage,
  storedBlocks,
  textBlock,
} from "../stored.ts";
import { isInterSessionExplanation, TEXTS } from "../texts.ts";

/**
 * Puts the inter-session marker in front of every message whose provenance says that no person
 * wrote it (rule R1).
 */
export const annotateInterSessionUserMessages = definePass(
  "inter-session",
  (messages, _options, report) =>
    mapChanged(messages, (message, index) => {
      const source = sourceOf(message);
      if (source === undefined) return message;
      const content = annotate(message, source);
      if (content === message.content) return message;
      report("changed", index, "a message from another session, marked as such");
      return { ...message, content };
    }),
  ({ hasProvenance }) => hasProvenance,
);

/**
 * Puts a line behind a message of another session where somebody else's words follow at once: some
 * models are shown both as one message.
 */
export const closeInterSessionMessages = definePass(
  "inter-session-end",
  (messages, _options, report) =>
    mapChanged(messages, (message, index) => {
      const source = sourceOf(message);
      const next = messages[index + 1];
      if (source === undefined || roleOf(next) !== "user" || sourceOf(next) === source)
        return message;
      const content = closed(message.content);
      if (content === message.content) return message;
      report("changed", index, "a message from another session, before words of somebody else");
      return { ...message, content };
    }),
  ({ hasProvenance, repeatedRoles }) => hasProvenance && repeatedRoles.has("user"),
);

/**
 * The marker of the session or tool that wrote the message; undefined: it tells of none.
 * @internal
 */
export function sourceOf(message: StoredMessage | undefined): string | undefined {
  const provenance = message?.provenance as StoredBlock | undefined;
  const isOther = roleOf(message) === "user" && fieldOf(provenance, "kind") === "inter_session";
  return isOther ? markerOf(provenance ?? {}) : undefined;
}

const END = TEXTS.interSessionEnd;
const IN_TEXT = "(End of the inter-session message)";

/**
 * The text without its inter-session marker, for people to read; the same string when it has none.
 */
export function stripInterSessionPromptPrefixForDisplay(text: string): string {
  if (!MARKER_LINE.test(text)) return text;
  const said = cutMarker(text);
  return said.endsWith(`\n${END}`) ? said.slice(0, -END.length - 1) : said;
}

// Older hosts closed the bracket at the end of the line.
const MARKER_LINE = /^\[Inter-session message[\] ]/;

function markerOf(provenance: StoredBlock): string {
  const sources = {
    sourceSession: provenance.sourceSessionKey,
    sourceChannel: provenance.sourceChannel,
    sourceTool: provenance.sourceTool,
  };
  const pairs = Object.entries(sources).flatMap(([name, value]) => {
    const source = nonBlank(value);
    return source === undefined ? [] : [`${name}=${source}`];
  });
  return [
    `${[TEXTS.interSessionPrefix, ...pairs].join(" ")} isUser=false`,
    TEXTS.interSessionExplanation,
  ].join("\n");
}

function annotate(message: StoredMessage, marker: string): unknown {
  const { content } = message;
  if (typeof content === "string") return withMarker(content, marker);
  if (!Array.isArray(content)) return content;
  const blocks = storedBlocks(message);
  const first = blocks.findIndex((block) => blockText(block) !== undefined);
  if (first < 0) return [textBlock(`${marker}\n${TEXTS.interSessionNoText}`), ...blocks];
  const text = blockText(blocks[first]) ?? "";
  const marked = withMarker(text, marker);
  return marked === text ? content : blocks.with(first, { ...blocks[first], text: marked });
}

/** Nothing inside the message ends it. */
function closed(content: unknown): unknown {
  if (typeof content === "string") return isBlank(content) ? content : closedText(content);
  if (!Array.isArray(content)) return content;
  const blocks = content as readonly StoredBlock[];
  const last = blocks.findLastIndex((block) => blockText(block) !== undefined);
  if (last < 0) return content;
  const text = blockText(blocks[last]) ?? "";
  const isDone = closedText(text) === text;
  const open = blocks.map((block, index) =>
    index === last || blockText(block) === undefined
      ? block
      : { ...block, text: withoutEnd(blockText(block)!) },
  );
  const isOpen = open.some((block, index) => blockText(block) !== blockText(blocks[index]));
  if (isDone && !isOpen) return content;
  return open.with(last, { ...blocks[last]!, text: closedText(text) });
}

const withoutEnd = (text: string) => text.replaceAll(END, IN_TEXT);

const closedText = (text: string) => {
  const said = text.endsWith(`\n${END}`) ? text.slice(0, -END.length - 1) : text;
  return `${withoutEnd(said)}\n${END}`;
};

function withMarker(text: string, marker: string): string {
  if (isBlank(text) || text === marker || text.startsWith(`${marker}\n`)) return text;
  return `${marker}\n${cutMarker(text)}`;
}

/** Cuts the first marker line, and the explanation line if it follows. */
function cutMarker(text: string): string {
  const lines = text.split("\n");
  const at = lines.findIndex((line) => MARKER_LINE.test(line));
  if (at < 0) return text;
  const explained = isInterSessionExplanation((lines[at + 1] ?? "").trimEnd());
  return lines.toSpliced(at, explained ? 2 : 1).join("\n");
}
