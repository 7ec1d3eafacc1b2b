// Tells which ids a stored call may have in a history that was made replayable.

import { canonicalId } from "./passes/responses.ts";
import { hashedId, sanitizeToolCallId } from "./passes/tool-ids.ts";
import type { TranscriptPolicy } from "./policies.ts";
import type { DerivedFlags } from "./select.ts";

/**
 * The id as it is stored, and as its route writes it: first where another call has the plain form,
 * then where none has. A running turn holds results as they are stored, behind a history that was
 * renamed.
 */
export type CallForms = (id: string) => readonly string[];

export function callFormsOf(policy: TranscriptPolicy, derived: DerivedFlags): CallForms {
  const { sanitizeToolCallIds, toolCallIdMode } = policy;
  if (derived.isResponses)
    return (id) => [id, canonicalId(id), canonicalId(id.split("|")[0] || id)];
  return sanitizeToolCallIds && toolCallIdMode !== undefined
    ? (id) => [id, hashedId(id, toolCallIdMode), sanitizeToolCallId(id, toolCallIdMode)]
    : (id) => [id];
}
