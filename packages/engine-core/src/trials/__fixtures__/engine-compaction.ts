// How engines under test compact: by the host, in their own store, or into a successor.
import {
  type AgentMessage,
  type CompactParams,
  type CompactResult,
  delegateCompactionToRuntime,
  messageId,
} from "@clew/plugin-sdk/core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { type Disk, fileOf, messageEntries, readBranch } from "./disk.ts";
import type { EngineShape } from "./engine-shape.ts";
import type { EngineStore } from "./engine-store.ts";

/** Turns that stay as they are when an engine compacts. */
const KEPT_TURNS = 1;

export async function compactBy(
  { id, compacts }: Pick<EngineShape, "id" | "compacts">,
  { disk, store, compacted }: { disk: Disk; store: EngineStore; compacted(): void },
  params: CompactParams,
): Promise<CompactResult> {
  if (compacts === "delegates") return delegateCompactionToRuntime(params);
  const branch = readBranch(disk, params.sessionFile ?? fileOf(params.sessionId));
  const start = startOfTurns(branch, KEPT_TURNS);
  const old = messageEntries(branch.slice(0, start));
  if (old.length === 0) return { ok: true, compacted: false, code: "nothing-to-compact" };
  if (compacts === "covers") {
    const fresh = old.filter(({ message }) => !store.covered.has(messageId(message) ?? ""));
    if (fresh.length === 0) return { ok: true, compacted: false, code: "nothing-to-compact" };
    for (const { message } of fresh) store.covered.add(messageId(message) ?? "");
    store.summary = `summary of ${store.covered.size}`;
    compacted();
    return { ok: true, compacted: true, result: { tokensBefore: 100, tokensAfter: 10 } };
  }
  const sessionId = `successor-${disk.next++}`;
  const kept = messageEntries(branch.slice(start)).map(({ message }) => message);
  const known = new Set(store.rows.map((row) => row.id));
  const tail = kept.filter(
    (message) =>
      compacts === "moves" ||
      (compacts === "moves prompts" ? message.role === "user" : known.has(messageId(message))),
  );
  writeSuccessor(disk, sessionId, `summary by ${id}`, tail);
  return {
    ok: true,
    compacted: true,
    result: { tokensBefore: 100, tokensAfter: 10, sessionId, sessionFile: fileOf(sessionId) },
  };
}

/** Index of the entry that opens the last `turns` turns; 0 = there are no more than these. */
export function startOfTurns(branch: readonly TranscriptEntry[], turns: number): number {
  const prompts = branch.flatMap((entry, index) =>
    entry.type === "message" && entry.message.role === "user" ? [index] : [],
  );
  return prompts.at(-turns) ?? 0;
}

/** A new session file: a summary, then copies of the kept messages under ids of its own. */
function writeSuccessor(
  disk: Disk,
  sessionId: string,
  summary: string,
  kept: readonly AgentMessage[],
): void {
  const timestamp = new Date(disk.next * 1000).toISOString();
  const head = { type: "branch_summary", fromId: "root", summary };
  const tail = kept.map((message) => ({ type: "message", message }));
  let parentId: string | null = null;
  const lines: string[] = [];
  for (const entry of [head, ...tail]) {
    const id: string = `e${disk.next++}`;
    lines.push(JSON.stringify({ ...entry, id, parentId, timestamp }));
    parentId = id;
  }
  disk.files.set(fileOf(sessionId), lines);
}
