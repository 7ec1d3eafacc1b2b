// Opens a session file of a test host's disk as the transcript port of one process.

import { messageId } from "@clew/plugin-sdk/core";
import {
  activeBranch,
  moveReferences,
  type NewTranscriptEntry,
  type TranscriptEntry,
  withMessageId,
} from "@clew/plugin-sdk/transcript";
import { partOfBranch, type TranscriptPort, type TranscriptStep } from "../../index.ts";
import { type Disk, type DiskSession, loadEntries, recordOf, type TurnKind } from "./disk.ts";

/** What the transcript tells its process. */
export interface TranscriptOwner {
  /** Resolves when the process lives on; never when it died there. */
  step(name: string): Promise<void>;
  /** Whose turn runs now. */
  turnKind(): TurnKind;
}

/** A transcript whose host may also leave a branch. */
export interface DiskTranscript extends TranscriptPort {
  /** The active branch, oldest first. */
  branch(): readonly TranscriptEntry[];
  /** The next entry follows this one; null = it is a new root. */
  moveLeaf(entryId: string | null): void;
}

export function openTranscript(
  disk: Disk,
  session: DiskSession,
  owner: TranscriptOwner,
): DiskTranscript {
  const { sessionFile } = session;
  let branch: readonly TranscriptEntry[] = activeBranch(
    loadEntries(disk, sessionFile),
    disk.leaves.get(sessionFile),
  );

  /** One line more; a message without an id is given its entry's, which it keeps for good. */
  function write(entry: NewTranscriptEntry): TranscriptEntry {
    const id = `e${disk.next++}`;
    const placed = {
      ...entry,
      ...(entry.type === "message" && {
        message: withMessageId(entry.message, messageId(entry.message) ?? id),
      }),
      id,
      parentId: branch.at(-1)?.id ?? null,
      timestamp: new Date(disk.next * 1000).toISOString(),
    } as TranscriptEntry;
    const line = JSON.stringify(placed);
    const lines = disk.files.get(sessionFile);
    if (lines === undefined) disk.files.set(sessionFile, [line]);
    else lines.push(line);
    disk.leaves.delete(sessionFile);
    const kept = JSON.parse(line) as TranscriptEntry;
    if (kept.type === "message") rememberKind(messageId(kept.message)!, kept.message.role);
    branch = [...branch, kept];
    return kept;
  }

  function rememberKind(origin: string, role: string): void {
    if (disk.kinds.has(origin)) return;
    const prompt = branch.findLast(
      (entry) => entry.type === "message" && entry.message.role === "user",
    );
    const ofTurn =
      prompt?.type === "message" ? disk.kinds.get(messageId(prompt.message) ?? "") : undefined;
    disk.kinds.set(origin, role === "user" ? owner.turnKind() : (ofTurn ?? owner.turnKind()));
  }

  return {
    session,
    exists: () => branch.length > 0,
    branch: () => branch,
    read: async (part) => partOfBranch(branch, part),
    async append(fresh) {
      await owner.step("append");
      const written = fresh.map(write);
      await owner.step("append:done");
      return written;
    },
    ...(disk.storesSteps && {
      async appendStep({ entries, deliveries }: TranscriptStep) {
        await owner.step("append");
        const written = entries.map(write);
        for (const { engineId, change } of deliveries)
          disk.deliveries.write(recordOf(disk, session), engineId, change);
        await owner.step("append:done");
        return written;
      },
    }),
    moveLeaf(entryId) {
      disk.leaves.set(sessionFile, entryId);
      branch = branch.slice(0, branch.findIndex(({ id }) => id === entryId) + 1);
    },
    async rewrite({ replacements }) {
      await owner.step("rewrite");
      const wanted = new Map(replacements.map(({ entryId, message }) => [entryId, message]));
      const changed = branch.flatMap((entry) => {
        const message = wanted.get(entry.id);
        if (entry.type !== "message" || message === undefined) return [];
        const replacement = withMessageId(message, messageId(entry.message) ?? entry.id);
        return JSON.stringify(replacement) === JSON.stringify(entry.message)
          ? []
          : [[entry.id, replacement] as const];
      });
      if (changed.length === 0)
        return {
          changed: false,
          bytesFreed: 0,
          rewrittenEntries: 0,
          reason: "no changed matching message entries",
        };
      const byId = new Map(changed);
      const first = branch.findIndex((entry) => byId.has(entry.id));
      const suffix = branch.slice(first);
      const remapped = new Map<string, string>();
      const moved = (id: string) => remapped.get(id) ?? id;
      branch = branch.slice(0, first);
      for (const entry of suffix) {
        const { id, parentId: _parent, timestamp: _time, ...rest } = moveReferences(entry, moved);
        const message = byId.get(entry.id);
        const written = write({ ...rest, ...(message && { message }) } as NewTranscriptEntry);
        remapped.set(entry.id, written.id);
      }
      await owner.step("rewrite:done");
      return { changed: true, bytesFreed: 1, rewrittenEntries: byId.size, remapped };
    },
    ...disk.deliveries.port(recordOf(disk, session), owner.step),
  };
}
