// Keeps the active branch of a session in memory and in its file, the file first.
import { randomBytes } from "node:crypto";
import { type BranchPart, partOfBranch } from "@clew/engine-core";
import {
  activeBranch,
  type TranscriptEntry,
  type TranscriptHeader,
} from "@clew/plugin-sdk/transcript";
import { keepCheckpoint } from "./checkpoint-keeper.ts";
import type { FileStamp, LinePlace, PlacedEntry } from "./checkpoint-lines.ts";
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

/** What a session file holds. */
export interface LoadedFile {
  /** Undefined: there is no session yet. */
  header: TranscriptHeader | undefined;
  /** In file order. */
  entries: TranscriptEntry[];
  /** Where each stands, in the same order; undefined when not every line is an entry. */
  places: readonly LinePlace[] | undefined;
  /** Bytes. */
  size: number;
  /** The checkpoint it was loaded by. Absent: none. */
  checkpoint?: { stamp: FileStamp; lines: number };
}

export interface BranchFileRequest {
  path: string;
  /** What the file holds now. */
  loaded: LoadedFile;
  /** Sessions smaller than this need no checkpoint, bytes. */
  checkpointFrom: number;
  newHeader: () => TranscriptHeader;
}

export async function openBranchFile({
  path,
  loaded,
  newHeader,
  checkpointFrom,
}: BranchFileRequest): Promise<BranchFile> {
  const file = durableFile(path, loaded.size);
  const ids = new Set(loaded.entries.map(({ id }) => id));
  const branch = await keepRead(activeBranch(loaded.entries));
  const keeper = await keepCheckpoint({
    sessionFile: path,
    size: loaded.size,
    placed: ids.size === loaded.entries.length ? placedIn(loaded, branch) : undefined,
    minBytes: checkpointFrom,
    current: loaded.checkpoint,
    header: loaded.header,
  });
  let snapshot: readonly TranscriptEntry[] | undefined;
  let { header } = loaded;
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
      const written = header ?? newHeader();
      const head = header === undefined ? formatHeader(written) : "";
      const lines = formatEntries(entries, { atomic });
      await file.append(head + lines.join(""));
      header = written;
      branch.length = kept;
      for (const entry of entries) branch.push(entry);
      snapshot = undefined;
      await keeper.wrote({ entries, lines, head });
      return entries;
    },
    exists: () => header !== undefined,
    async close() {
      await file.close();
      if (header !== undefined) await keeper.close(header);
    },
  };
}

/** Entries of the branch as they are kept, with their ids. */
function placedIn(
  { entries, places }: LoadedFile,
  branch: readonly TranscriptEntry[],
): PlacedEntry[] | undefined {
  const kept = new Map(branch.map((entry) => [entry.id, entry]));
  return places?.map(({ start, length }, index) => {
    const entry = entries[index]!;
    return { entry: kept.get(entry.id) ?? entry, start, length };
  });
}
