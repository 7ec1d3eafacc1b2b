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
      const provenance = message?.provenance as StoredBlock | undefined;
      if (roleOf(message) !== "user" || fieldOf(provenance, "kind") !== "inter_session")
        return message;
      const content = annotate(message, markerOf(provenance ?? {}));
      if (content === message.content) return message;
      report("changed", index, "a message from another session, marked as such");
      return { ...message, content };
    }),
  ({ hasProvenance }) => hasProvenance,
);

/**
 * The text without its inter-session marker, for people to read; the same string when it has none.
 */
export function stripInterSessionPromptPrefixForDisplay(text: string): string {
  return MARKER_LINE.test(text) ? cutMarker(text) : text;
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
