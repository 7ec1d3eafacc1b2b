// Rewrites stored messages and tells the turn of their new entry ids.
import {
  ContextEngineError,
  type TranscriptRewriteRequest,
  type TranscriptRewriteResult,
} from "@clew/plugin-sdk/core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { printable } from "../../engine/describe-error.ts";
import { readBranch } from "../../session/session-state.ts";
import type { World } from "./world.ts";

/**
 * `runtimeContext.rewriteTranscriptEntries` (contract §1.5). The originals stay in the file on
 * the branch that was left; messages keep their ids.
 */
export function rewriteEntries(
  world: World,
  request: TranscriptRewriteRequest,
): Promise<TranscriptRewriteResult> {
  const work = rewrite(world, request);
  // Whoever asked may not wait for it any more; the turn does.
  world.rewriting = Promise.allSettled([world.rewriting, work]);
  return work;
}

async function rewrite(
  { transcript, state, occurred }: World,
  request: TranscriptRewriteRequest,
): Promise<TranscriptRewriteResult> {
  await readBranch(state, transcript);
  const replacements = withEnvelopes(state.branch, request.replacements);
  const { remapped = new Map<string, string>(), ...result } = await transcript.rewrite({
    ...request,
    replacements,
  });
  if (!result.changed) return result;
  state.measurement = undefined;
  occurred({ type: "rewritten", remapped });
  return result;
}

/**
 * Who said a message, and in which kind of turn, is not the rewriter's to change: a replacement
 * keeps its envelope, and throws REQUEST_INVALID where it has another role.
 */
function withEnvelopes(
  branch: readonly TranscriptEntry[],
  replacements: TranscriptRewriteRequest["replacements"],
): TranscriptRewriteRequest["replacements"] {
  const wanted = new Set(replacements.map(({ entryId }) => entryId));
  const originals = new Map(
    branch.flatMap((entry) =>
      entry.type === "message" && wanted.has(entry.id) ? [[entry.id, entry.message]] : [],
    ),
  );
  return replacements.map((replacement) => {
    const { message, entryId } = replacement;
    const original = originals.get(entryId);
    if (original !== undefined && original.role !== message.role)
      throw new ContextEngineError(
        "REQUEST_INVALID",
        `Nothing was rewritten: entry ${printable(entryId)} holds a message of role ${original.role}, its replacement one of role ${message.role}; keep the role.`,
      );
    const envelope = original?.__openclaw;
    if (envelope === undefined) return replacement;
    return {
      ...replacement,
      message: { ...message, __openclaw: { ...message.__openclaw, ...envelope } },
    };
  });
}
