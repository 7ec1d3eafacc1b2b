// Which entries a transcript rewrite appends (contract §1.5).
import { isDeepStrictEqual } from "node:util";
import {
  type AgentMessage,
  ContextEngineError,
  type TranscriptRewriteRequest,
  type TranscriptRewriteResult,
} from "@clew/plugin-sdk/core";
import {
  moveReferences,
  originsOf,
  type TranscriptEntry,
  withMessageId,
  withOrigin,
} from "@clew/plugin-sdk/transcript";
import { toJson } from "../own-json.ts";
import { checkReplacement } from "./replacement.ts";

export type RewritePlan =
  | { kind: "nothing"; result: TranscriptRewriteResult }
  | {
      kind: "append";
      /** Entries of the branch that stay, counted from the root. */
      kept: number;
      entries: TranscriptEntry[];
      /** New id of each entry that is appended again. */
      remapped: ReadonlyMap<string, string>;
      result: TranscriptRewriteResult;
    };

export interface RewriteInput {
  branch: readonly TranscriptEntry[];
  request: TranscriptRewriteRequest;
  nextId: () => string;
}

/**
 * Pure but for `nextId`. Whatever is appended again is still what it was: it keeps the id of the
 * entry that first said it, a replacement too. Throws TRANSCRIPT_MOVED when the suffix holds
 * entries the caller did not allow, REQUEST_INVALID when a replacement is no message.
 */
export function planRewrite({ branch, request, nextId }: RewriteInput): RewritePlan {
  const wanted = new Map(
    request.replacements
      .filter(({ entryId }) => entryId.trim() !== "")
      .map((each) => [each.entryId, each.message]),
  );
  if (wanted.size === 0) return nothing("no replacements requested");
  if (branch.length === 0) return nothing("empty session");

  const origins = originsOf(branch);
  const changed = new Map<string, TranscriptEntry>();
  let bytesFreed = 0;
  for (const entry of branch) {
    if (entry.type !== "message" || !wanted.has(entry.id)) continue;
    const { id, message: stored } = entry;
    const origin = origins.get(id)!;
    const message = checkReplacement({ entryId: id, message: wanted.get(id), stored, origin });
    if (isDeepStrictEqual(message, withMessageId(stored, origin))) continue;
    changed.set(id, { ...entry, message });
    bytesFreed += Math.max(0, bytesOf(stored) - bytesOf(message));
  }
  const kept = branch.findIndex(({ id }) => changed.has(id));
  if (kept < 0) return nothing("no changed matching message entries");

  const suffix = branch.slice(kept);
  refuseForeignEntries(suffix, changed, request.allowedRewriteSuffixEntryIds);
  const newIds = new Map(suffix.map((entry) => [entry.id, nextId()]));
  const entries = suffix.map((entry, index): TranscriptEntry => {
    const parentId = index === 0 ? entry.parentId : newIds.get(suffix[index - 1]!.id)!;
    const again = { ...(changed.get(entry.id) ?? entry), id: newIds.get(entry.id)!, parentId };
    return moveReferences(withOrigin(again, origins.get(entry.id)!), (id) => newIds.get(id) ?? id);
  });
  return {
    kind: "append",
    kept,
    entries,
    remapped: newIds,
    result: { changed: true, bytesFreed, rewrittenEntries: changed.size },
  };
}

const bytesOf = (message: AgentMessage) => Buffer.byteLength(toJson(message));

function nothing(reason: string): RewritePlan {
  return {
    kind: "nothing",
    result: { changed: false, bytesFreed: 0, rewrittenEntries: 0, reason },
  };
}

function refuseForeignEntries(
  suffix: readonly TranscriptEntry[],
  changed: ReadonlyMap<string, unknown>,
  allowed: string[] | undefined,
) {
  if (allowed === undefined) return;
  const known = new Set(allowed);
  const foreign = suffix.find(({ id }) => !known.has(id) && !changed.has(id));
  if (foreign === undefined) return;
  throw new ContextEngineError(
    "TRANSCRIPT_MOVED",
    `The transcript cannot be rewritten: entry ${foreign.id} was added after the rewrite was planned; plan it again on the current branch.`,
  );
}
