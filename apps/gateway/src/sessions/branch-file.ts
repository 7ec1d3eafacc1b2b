// Keeps the active branch of a session in memory and in its file, the file first.
import { randomBytes } from "node:crypto";
import { type BranchPart, partOfBranch } from "@clew/engine-core";
import {
  activeBranch,
  type TranscriptEntry,
  type TranscriptHeader,
} from "@clew/plugin-sdk/transcript";
import { durableFile } from "./durable-file.ts";
import { formatEntries, formatHeader } from "./entry-lines.ts";
import { keepEntry, keepRead } from "./kept-entry.ts";

export interface BranchFile {
  /** Oldest first; the same array until something is written. */
  branch(): readonly TranscriptEntry[];
  /** Costs what it answers. */
  read(part: BranchPart): readonly TranscriptEntry[] | null;
  leafId(): string | null;
  /** An id no other entry of this session has or will get. */
  nextId(): string;
  /** Ids that were made elsewhere. */
  takeIds(entries: readonly TranscriptEntry[]): void;
  /**
   * Lets `entries` follow the first `kept` ones, and gives them as they are kept: copies, frozen
   * like all that `branch` gives. Not to be called while another call runs.
   */
  write(
    entries: readonly TranscriptEntry[],
    options: { kept?: number; atomic: boolean },
  ): Promise<readonly TranscriptEntry[]>;
  /** False until the first write of a new session. */
  exists(): boolean;
  close(): Promise<void>;
}

export interface BranchFileRequest {
  path: string;
  /** What the file holds now. */
  loaded: { header: TranscriptHeader | undefined; entries: TranscriptEntry[]; size: number };
  newHeader: () => TranscriptHeader;
}

export async function openBranchFile({
  path,
  loaded,
  newHeader,
}: BranchFileRequest): Promise<BranchFile> {
  const file = durableFile(path, loaded.size);
  const ids = new Set(loaded.entries.map(({ id }) => id));
  const branch = await keepRead(activeBranch(loaded.entries));
  let snapshot: readonly TranscriptEntry[] | undefined;
  let hasHeader = loaded.header !== undefined;
  return {
    branch: () => {
      snapshot ??= branch.slice();
      return snapshot;
    },
    read: (part) => partOfBranch(branch, part),
    leafId: () => branch.at(-1)?.id ?? null,
    // An id is taken as soon as it is given, so that one write cannot use it twice.
    nextId() {
      let id = randomBytes(4).toString("hex");
      while (ids.has(id)) id = randomBytes(4).toString("hex");
      ids.add(id);
      return id;
    },
    takeIds(entries) {
      for (const { id } of entries) ids.add(id);
    },
    async write(added, { kept = branch.length, atomic }) {
      const entries = added.map(keepEntry);
      const head = hasHeader ? "" : formatHeader(newHeader());
      await file.append(head + formatEntries(entries, { atomic }));
      hasHeader = true;
      branch.length = kept;
      for (const entry of entries) branch.push(entry);
      snapshot = undefined;
      return entries;
    },
    exists: () => hasHeader,
    close: () => file.close(),
  };
}
