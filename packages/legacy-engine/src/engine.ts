// Passes history through untouched and hands compaction to the host.
import { type ContextEngine, delegateCompactionToRuntime } from "@clew/plugin-sdk/core";

/**
 * The engine registered as "legacy". `assemble` returns the very array it was given and estimates
 * nothing (`estimatedTokens` 0); `ingest` records nothing, because the transcript already holds
 * every message; `compact` is the host's built-in compaction, and an honest
 * `{ ok: false, compacted: false, reason }` on a host that has none (contract §5). It keeps no
 * state, so one instance serves every session.
 */
export function createLegacyEngine(): ContextEngine {
  return {
    info: { id: "legacy", name: "Legacy Context Engine", version: "1.0.0" },
    ingest: () => ({ ingested: false }),
    assemble: ({ messages }) => ({ messages, estimatedTokens: 0 }),
    // The function itself, so that a host sees that compaction is delegated.
    compact: delegateCompactionToRuntime,
  };
}
