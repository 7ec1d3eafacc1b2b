// When an assistant's whole text only says that it has nothing to say.
import { parseJson } from "../stored.ts";

const TOKENS = /^(?:NO_REPLY\s*)+$/i;
const AFTER_REASONING =
  /^(?:<(think|thinking|thought|reasoning)>[\s\S]*<\/\1>|(?:reasoning|thinking|thoughts?)\s*:[\s\S]*\n|think(?:ing)?[ \t]*\n[\s\S]*\n)\s*(NO_REPLY[\s\S]*)$/i;

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
  const spoken = AFTER_REASONING.exec(trimmed)?.[2];
  return spoken === undefined ? isSilentJson(trimmed) : TOKENS.test(spoken) || isSilentJson(spoken);
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
