// What blocks remember of the Responses items they came from, and how it is read again.
import { isRecord } from "@clew/plugin-sdk/host";

type Json = Readonly<Record<string, unknown>>;

/**
 * The reasoning item behind a thinking block as it goes back: without its id. Undefined when there
 * is none, or nothing in it that the provider could read.
 */
export function reasoningOf(signature: string | undefined): Json | undefined {
  const item = parse(signature);
  const cipher = item?.encrypted_content;
  if (item?.type !== "reasoning" || typeof cipher !== "string" || cipher === "") return undefined;
  const { summary, content } = item;
  return {
    type: "reasoning",
    summary: Array.isArray(summary) ? summary : [],
    ...(Array.isArray(content) && { content }),
    encrypted_content: cipher,
  };
}

/** What a text block remembers of its item. */
export const textSignature = ({ id, phase }: Json): string =>
  JSON.stringify({ v: 1, ...(typeof id === "string" && { id }), ...(isPhase(phase) && { phase }) });

/** Whether a text was said on the way or as the answer; undefined: nobody told. */
export function phaseOf(signature: string | undefined): string | undefined {
  const phase = parse(signature)?.phase;
  return isPhase(phase) ? phase : undefined;
}

const isPhase = (phase: unknown): phase is string =>
  phase === "commentary" || phase === "final_answer";

/** Signatures of other wires are no objects. */
function parse(signature: unknown): Json | undefined {
  if (typeof signature !== "string" || !signature.startsWith("{")) return undefined;
  try {
    const value: unknown = JSON.parse(signature);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
