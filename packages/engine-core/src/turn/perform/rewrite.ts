// Rewrites stored messages and tells the turn of their new entry ids.
import type { TranscriptRewriteRequest, TranscriptRewriteResult } from "@clew/plugin-sdk/core";
import type { World } from "./world.ts";

/**
 * `runtimeContext.rewriteTranscriptEntries` (contract §1.5). The originals stay in the file on
 * the branch that was left; messages keep their ids.
 */
export async function rewriteEntries(
  { transcript, state, occurred }: Pick<World, "transcript" | "state" | "occurred">,
  request: TranscriptRewriteRequest,
): Promise<TranscriptRewriteResult> {
  const { remapped = new Map<string, string>(), ...result } = await transcript.rewrite(request);
  if (!result.changed) return result;
  state.measurement = undefined;
  occurred({ type: "rewritten", remapped });
  return result;
}
