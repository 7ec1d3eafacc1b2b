// When an assistant's whole text only says that it has nothing to say.
import { parseJson } from "../stored.ts";

const TOKEN = "NO_REPLY";
const TOKENS = /^(?:NO_REPLY\s*)+$/i;
const IN_TAGS = /^<(think|thinking|thought|reasoning)>/i;
/** Reasoning that a line begins, and whose end only another line tells. */
const IN_LINES = /^(?:(?:reasoning|thinking|thoughts?)\s*:|think(?:ing)?[ \t]*\n)/i;

// Nobody says nothing at greater length.
const LONGEST = 20_000;

/**
 * True for NO_REPLY in any case and number, as a JSON string or action, or after a stretch of
 * reasoning.
 */
export function isSilentReply(text: string): boolean {
  if (text.length > LONGEST || !/NO_REPLY/i.test(text)) return false;
  const trimmed = text.trim();
  if (TOKENS.test(trimmed)) return true;
  return isSilentBehindReasoning(trimmed) || isSilentJson(trimmed);
}

/** From the end: each sign is looked at a bounded number of times. */
function isSilentBehindReasoning(text: string): boolean {
  const tag = IN_TAGS.exec(text)?.[1];
  const opening = tag === undefined ? IN_LINES.exec(text)?.[0].length : 0;
  if (opening === undefined) return false;
  let rest = text;
  while (rest.slice(-TOKEN.length).toUpperCase() === TOKEN) {
    const before = rest.slice(0, -TOKEN.length);
    rest = before.trimEnd();
    if (tag === undefined && rest.length >= opening - 1 && before.slice(rest.length).includes("\n"))
      return true;
  }
  if (tag === undefined || rest.length === text.length) return false;
  const close = `</${tag}>`.toLowerCase();
  return rest.slice(-close.length).toLowerCase() === close;
}

function isSilentJson(text: string): boolean {
  const value = parseJson(text);
  if (typeof value === "string") return TOKENS.test(value.trim());
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const [entry, ...rest] = Object.entries(value);
  return (
    entry?.[0] === "action" &&
    rest.length === 0 &&
    typeof entry[1] === "string" &&
    TOKENS.test(entry[1].trim())
  );
}
