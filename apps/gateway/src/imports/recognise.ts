// Recognises whose transcript a file is by what its lines hold.

import type { Format } from "./foreign.ts";
import { isMessage, listIn } from "./readers/openai.ts";
import { memberOf } from "./strand.ts";

/** Pure. Undefined: this line tells nothing. */
export function formatOf(value: unknown): Format | undefined {
  const type = memberOf(value, "type");
  const has = (name: string) => typeof memberOf(value, name) === "string";
  if (type === "session" && has("id")) return "pi";
  if (CODEX.has(type as string) && memberOf(value, "payload") !== undefined) return "codex";
  if (type === undefined && has("id") && has("timestamp") && memberOf(value, "role") === undefined)
    return memberOf(value, "instructions") === undefined ? undefined : "codex";
  if (type === "summary" && has("leafUuid")) return "claude-code";
  if (has("sessionId") && has("type")) return "claude-code";
  if (has("uuid") && (type === "user" || type === "assistant" || type === "system"))
    return "claude-code";
  if (type === "file-history-snapshot") return "claude-code";
  return isMessage(value) || listIn(value) !== undefined ? "openai" : undefined;
}

const CODEX: ReadonlySet<unknown> = new Set([
  ...["session_meta", "response_item", "event_msg", "turn_context", "compacted"],
]);
