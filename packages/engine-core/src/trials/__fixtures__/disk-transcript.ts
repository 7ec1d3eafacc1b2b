// Opens a session file of a test host's disk as the transcript port of one process.

import { messageId } from "@clew/plugin-sdk/core";
import {
  activeBranch,
  moveReferences,
  type NewTranscriptEntry,
  originsOf,
  placeEntry,
  type TranscriptEntry,
  withMessageId,
  withOrigin,
} from "@clew/plugin-sdk/transcript";
import { partOfBranch, type TranscriptPort, type TranscriptStep } from "../../index.ts";
import { type Disk, type DiskSession, loadEntries, recordOf, type TurnKind } from "./disk.ts";

/** What the transcript tells its process. */
export interface TranscriptOwner {
  /** Resolves when the process lives on; never when it died there. */
  step(name: string): Promise<void>;
  /** Resolves when what was read has arrived. Absent: at once. */
  reading?(): Promise<void>;
  /** Whose turn runs now. */
  turnKind(): TurnKind;
}

/** A transcript whose host may also leave a branch. */
export interface DiskTranscript extends TranscriptPort {
  /** The active branch, oldest first. */
  branch(): readonly TranscriptEntry[];
  /** The next entry follows this one; null = it is a new root. */
  moveLeaf(entryId: string | null): void | Promise<void>;
  /** To be waited for before anything else is asked. Absent: nothing is. */
  readonly ready?: Promise<void>;
}

/** Opens the transcript of a session for one process. */
export type OpenTranscript = (
  disk: Disk,
  session: DiskSession,
  owner: TranscriptOwner,
) => DiskTranscript;

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

  /** One line more, as every store of this SDK places it; `origin` is what it was first. */
  function write(entry: NewTranscriptEntry, origin?: string): TranscriptEntry {
    const placed = placeEntry(entry, {
      id: `e${disk.next++}`,
      parentId: branch.at(-1)?.id ?? null,
      timestamp: new Date(disk.next * 1000).toISOString(),
    });
    const line = JSON.stringify(origin === undefined ? placed : withOrigin(placed, origin));
    const lines = disk.files.get(sessionFile);
    if (lines === undefined) disk.files.set(sessionFile, [line]);
    else lines.push(line);
    disk.leaves.delete(sessionFile);
    const kept = JSON.parse(line) as TranscriptEntry;
    rememberKind(disk, { branch, entry: kept, owner });
    branch = [...branch, kept];
    return kept;
  }

  const { sessionFile: _notTold, ...nameless } = session;
  return {
    session: disk.tellsFiles ? session : nameless,
    exists: () => branch.length > 0,
    branch: () => branch,
    async read(part) {
      const answer = partOfBranch(branch, part);
      await owner.reading?.();
      return answer;
    },
    async append(fresh) {
      await owner.step("append");
      const written = fresh.map((entry) => write(entry));
      await owner.step("append:done");
      return written;
    },
    ...(disk.storesSteps && {
      async appendStep({ entries, deliveries }: TranscriptStep) {
        await owner.step("append");
        const written = entries.map((entry) => write(entry));
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
      const origins = originsOf(branch);
      const remapped = new Map<string, string>();
      const moved = (id: string) => remapped.get(id) ?? id;
      branch = branch.slice(0, first);
      for (const entry of suffix) {
        const { id, parentId: _parent, timestamp: _time, ...rest } = moveReferences(entry, moved);
        const message = byId.get(entry.id);
        const again = { ...rest, ...(message && { message }) } as NewTranscriptEntry;
        const written = write(again, origins.get(entry.id));
        remapped.set(entry.id, written.id);
      }
      await owner.step("rewrite:done");
      return { changed: true, bytesFreed: 1, rewrittenEntries: byId.size, remapped };
    },
    ...disk.deliveries.port(recordOf(disk, session), owner.step),
  };
}

/** Whose turn an entry belongs to that is about to follow the branch. */
export function rememberKind(
  disk: Disk,
  {
    branch,
    entry,
    owner,
  }: { branch: readonly TranscriptEntry[]; entry: TranscriptEntry; owner: TranscriptOwner },
): void {
  if (entry.type !== "message") return;
  const { message } = entry;
  const origin = messageId(message)!;
  if (disk.kinds.has(origin)) return;
  const prompt = branch.findLast((each) => each.type === "message" && each.message.role === "user");
  const ofTurn =
    prompt?.type === "message" ? disk.kinds.get(messageId(prompt.message) ?? "") : undefined;
  const kind = message.role === "user" ? owner.turnKind() : (ofTurn ?? owner.turnKind());
  disk.kinds.set(origin, kind);
}
