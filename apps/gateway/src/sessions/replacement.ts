// Which messages may replace a stored one.
import { type AgentMessage, ContextEngineError } from "@clew/plugin-sdk/core";
import { AgentMessageSchema } from "@clew/plugin-sdk/host";
import { withMessageId } from "@clew/plugin-sdk/transcript";
import { fromJson, toJson } from "../own-json.ts";

export interface ReplacementInput {
  entryId: string;
  /** As an engine gave it; unchecked. */
  message: unknown;
  /** What is stored now, and the entry that first said it. */
  stored: AgentMessage;
  origin: string;
}

/**
 * The message as it may be stored: plain data, and still the message it replaces, with all that the
 * host wrote on that one. Throws REQUEST_INVALID.
 */
export function checkReplacement({ entryId, message, stored, origin }: ReplacementInput) {
  const plain = plainOf(message);
  if (plain === undefined) throw refused(entryId, "it is not plain data that JSON can hold");
  const parsed = AgentMessageSchema.safeParse(plain);
  if (!parsed.success) {
    const [where] = parsed.error.issues[0]?.path ?? [];
    throw refused(entryId, `its ${String(where ?? "role")} is missing or invalid`);
  }
  const checked = plain as AgentMessage;
  // A file of another program may hold such a message; nobody may write one.
  if ("content" in checked && checked.content === null)
    throw refused(entryId, "its content is missing or invalid");
  const { __openclaw: _written, ...rest } = checked;
  const envelope = stored.__openclaw;
  return withMessageId(
    { ...rest, ...(envelope !== undefined && { __openclaw: envelope }) } as AgentMessage,
    origin,
  );
}

/** As a session file would give it back; undefined when no file could hold it. */
function plainOf(value: unknown): unknown {
  try {
    const text = toJson(value) as string | undefined;
    return text === undefined ? undefined : fromJson(text);
  } catch {
    return undefined;
  }
}

function refused(entryId: string, why: string): ContextEngineError {
  return new ContextEngineError(
    "REQUEST_INVALID",
    `The transcript was not rewritten: the replacement of entry ${entryId} is no message, ${why}; give a whole message of a known role.`,
  );
}
