// Finds what of a history is the host's own context and nobody's words.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import { mapChanged } from "../pass.ts";
import { asStored, roleOf } from "../stored.ts";

const BEGIN = "<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>";
const END = "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>";

// Two headers of older hosts; what they open runs to the end of the text.
const LEGACY_HEADER =
  /(?:^|\n)(?:OpenClaw runtime context \(internal\):|OpenClaw runtime (?:event|context for the immediately preceding user message)\.)[ \t]*\r?\nThis context is runtime-generated,[^\n]*(?:\n[\s\S]*)?$/;

/**
 * Custom messages that carry runtime context from one turn to the next.
 * @internal
 */
export const RUNTIME_CONTEXT_TYPE = "openclaw.runtime-context";

/** The text without blocks of runtime context; the same string when it holds none. */
export function stripInternalRuntimeContext(text: string): string {
  const delimited = text.includes(BEGIN) ? stripDelimited(text) : text;
  const legacy = LEGACY_HEADER.exec(delimited);
  return legacy === null ? delimited : delimited.slice(0, legacy.index).trimEnd();
}

function stripDelimited(text: string): string {
  const kept: string[] = [];
  let part: string[] = [];
  let depth = 0;
  for (const line of text.split("\n")) {
    const marker = line.trim();
    if (marker === BEGIN) {
      if (depth === 0) kept.push(part.join("\n"));
      part = depth === 0 ? [] : part;
      depth += 1;
    } else if (marker === END && depth > 0) depth -= 1;
    else if (depth === 0) part.push(line);
  }
  if (depth === 0) kept.push(part.join("\n"));
  if (kept.length === 1 && depth === 0) return text;
  return kept
    .map((piece, index) =>
      index === 0 ? piece.trimEnd() : index === kept.length - 1 ? piece.trimStart() : piece.trim(),
    )
    .filter((piece) => piece !== "")
    .join("\n\n");
}

// A headline, then fenced JSON; several may stand one after the other.
const METADATA_BLOCK =
  /^[^\n]*\(untrusted(?: metadata|, for context)\):[ \t]*\r?\n```(?:json)?[ \t]*\r?\n[\s\S]*?^```[ \t]*\r?$(?:\r?\n)*/gm;
// What a channel appends after a message, to its end.
const METADATA_TAIL =
  /(?:^|\n)Untrusted context \(metadata, [^\n]*\):[ \t]*\r?\n[\s\S]*<<<EXTERNAL_UNTRUSTED_CONTENT[\s\S]*$/;
const LEADING_TIMESTAMP =
  /^\s*\[(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{4}-\d{2}-\d{2} \d{2}:\d{2}[^\]\n]*\][ \t]*/;

/**
 * The text without the blocks a channel puts around a message, and without the time before it; the
 * same string when it holds none.
 */
export function stripInboundMetadata(text: string): string {
  const bareOfBlocks = text.includes("(untrusted") ? text.replace(METADATA_BLOCK, "") : text;
  const body = bareOfBlocks.includes("Untrusted context (")
    ? bareOfBlocks.replace(METADATA_TAIL, "")
    : bareOfBlocks;
  const stamped = LEADING_TIMESTAMP.exec(body);
  const bare = stamped === null ? body : body.slice(stamped[0].length);
  return bare === text ? text : bare.trim();
}

/**
 * The text without anything the host put there.
 * @internal
 */
export const stripHostContext = (text: string): string =>
  stripInboundMetadata(stripInternalRuntimeContext(text));

/** Drops every runtime-context message: what is stored and shown holds none. */
export const stripRuntimeContextCustomMessages = (
  messages: readonly AgentMessage[],
): readonly AgentMessage[] =>
  messages.filter((message) => !isRuntimeContext(message)).length === messages.length
    ? messages
    : messages.filter((message) => !isRuntimeContext(message));

/**
 * Drops runtime-context messages except those directly before the last user message, which belong
 * to the running turn.
 */
export function stripHistoricalRuntimeContextCustomMessages(
  messages: readonly AgentMessage[],
): readonly AgentMessage[] {
  const user = messages.findLastIndex((message) => roleOf(asStored([message])[0]) === "user");
  let start = user;
  while (start > 0 && isRuntimeContext(messages[start - 1]!)) start -= 1;
  return mapChanged(messages, (message, index) =>
    isRuntimeContext(message) && !(index >= start && index < user) ? undefined : message,
  );
}

const isRuntimeContext = (message: AgentMessage): boolean =>
  message?.role === "custom" && message.customType === RUNTIME_CONTEXT_TYPE;
