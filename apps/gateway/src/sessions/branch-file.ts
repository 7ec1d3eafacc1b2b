// Keeps the active branch of a session in memory and in its file, the file first.
import { randomUUID } from "node:crypto";
import { type BranchPart, partOfBranch } from "@clew/engine-core";
import { stepsInSlices } from "@clew/plugin-sdk/host";
import type { TranscriptEntry, TranscriptHeader } from "@clew/plugin-sdk/transcript";
import { keepCheckpoint } from "./checkpoint-keeper.ts";
import type { FileStamp, PlacedEntry } from "./checkpoint-lines.ts";
import { durableFile, type MovedFile } from "./durable-file.ts";
import { ENTRY_BYTES } from "./entry-bytes.ts";
import { formatHeader, lineSteps } from "./entry-lines.ts";
import { keepEntry } from "./kept-entry.ts";
import { mapSteps } from "./map-steps.ts";
import { replacesHistory, shownPart } from "./shown-part.ts";

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
  /** What it takes in memory, texts and all. */
  heldBytes(): number;
  /** Of these, what the compactions since it was opened left behind. */
  spareBytes(): number;
  /** False until the first write of a new session. */
  exists(): boolean;
  /** What another program did to the file since; null = nothing. */
  moved(): MovedFile | null;
  close(): Promise<void>;
}

/** What a session file holds. */
export interface LoadedFile {
  /** Undefined: there is no session yet. */
  header: TranscriptHeader | undefined;
  /** The active branch, oldest first, as it is kept. */
  branch: TranscriptEntry[];
  /** All entries; undefined when not every line of the file is one. */
  placed: PlacedEntry[] | undefined;
  /** Ids of all entries. */
  ids: () => Set<string>;
  /** Bytes. */
  size: number;
  /** What it takes in memory, texts and all. */
  heldBytes: number;
  /** The checkpoint it was loaded by. Absent: none. */
  current?: { stamp: FileStamp; lines: number };
}

export interface BranchFileRequest {
  path: string;
  /** What the file holds now. */
  loaded: LoadedFile;
  /** Sessions smaller than this need no checkpoint, bytes. */
  checkpointFrom: number;
  newHeader: () => TranscriptHeader;
  /** Ids that are not taken yet, as a rule. */
  newId: () => string;
  /** True: the session is kept elsewhere. Absent: here. */
  isCopy?: boolean | undefined;
}

/** Its first eight digits are random; the system is asked for many of them at once. */
export const randomId = (): string => randomUUID().slice(0, 8);

export async function openBranchFile({
  path,
  loaded,
  newHeader,
  newId,
  checkpointFrom,
  isCopy,
}: BranchFileRequest): Promise<BranchFile> {
  const file = durableFile(path, loaded.size, isCopy === true ? { isCopy } : {});
  const { branch } = loaded;
  let ids: Set<string> | undefined;
  const keeper = await keepCheckpoint({
    sessionFile: path,
    size: loaded.size,
    placed: loaded.placed,
    minBytes: checkpointFrom,
    current: loaded.current,
    header: loaded.header,
  });
  let snapshot: readonly TranscriptEntry[] | undefined;
  let { header, heldBytes } = loaded;
  let shownBytes = heldBytes;
  return {
    branch: () => {
      snapshot ??= branch.slice();
      return snapshot;
    },
    read: (part) => partOfBranch(branch, part),
    leafId: () => branch.at(-1)?.id ?? null,
    // An id is taken as soon as it is given, so that one write cannot use it twice.
    nextId() {
      ids ??= loaded.ids();
      let id = newId();
      while (ids.has(id)) id = newId();
      ids.add(id);
      return id;
    },
    takeIds(entries) {
      ids ??= loaded.ids();
      for (const { id } of entries) ids.add(id);
    },
    async write(added, { kept = branch.length, atomic }) {
      // A client may bring a long history at once.
      const entries = await stepsInSlices(mapSteps(added, keepEntry));
      const written = header ?? newHeader();
      const head = header === undefined ? formatHeader(written) : "";
      // What of a copy is lost comes again from where its session is.
      const lines = await stepsInSlices(lineSteps(entries, { atomic: atomic && isCopy !== true }));
      await keeper.lookBefore();
      await file.append(head + lines.join(""));
      header = written;
      const addedBytes = lines.reduce((sum, line) => sum + line.length + ENTRY_BYTES, 0);
      heldBytes += addedBytes;
      shownBytes += addedBytes;
      branch.length = kept;
      for (const entry of entries) branch.push(entry);
      snapshot = undefined;
      await keeper.wrote({ entries, lines, head });
      if (entries.some(replacesHistory))
        shownBytes = bytesFrom(loaded.placed, shownPart(branch)[0]) ?? heldBytes;
      return entries;
    },
    heldBytes: () => heldBytes,
    spareBytes: () => Math.max(0, heldBytes - shownBytes),
    exists: () => header !== undefined,
    moved: file.moved,
    async close() {
      const isMoved = file.moved() !== null;
      await file.close();
      if (isMoved) await keeper.letGo();
      else if (header !== undefined) await keeper.close(header);
    },
  };
}

/** What it takes from this entry to the end; undefined when nobody knows where it stands. */
function bytesFrom(
  placed: readonly PlacedEntry[] | undefined,
  first: TranscriptEntry | undefined,
): number | undefined {
  const at = placed?.findLastIndex(({ entry }) => entry.id === first?.id) ?? -1;
  return at < 0
    ? undefined
    : placed!.slice(at).reduce((sum, { length }) => sum + length + ENTRY_BYTES, 0);
}
