// Reads a session file of pi or OpenClaw, which is a tree in the form of our own.

import { isRecord, withoutDeepParts } from "@clew/plugin-sdk/host";
import {
  createTranscriptReader,
  parseTranscriptLine,
  TRANSCRIPT_VERSION,
  type TranscriptEntry,
  type TranscriptHeader,
} from "@clew/plugin-sdk/transcript";
import { textOf } from "../../door/wires/json.ts";
import type {
  ForeignEntry,
  ForeignLine,
  FormatReader,
  FoundSession,
  ReaderOptions,
} from "../foreign.ts";
import { hashOf, isoTime, memberOf, recordOf } from "../strand.ts";
import { count } from "../tally.ts";

const FORMAT = "pi";

export function createPiReader({ fileName, writtenAt, tally }: ReaderOptions): FormatReader {
  let header: TranscriptHeader | undefined;
  let ownKey: string | undefined;
  /** Of an older version, which is understood only as a whole. */
  let older: ForeignLine[] | undefined;
  const ids = new Set<string>();
  let newest: string | null = null;
  let newestTime = "";
  let isBehindGap = false;

  const found = (): FoundSession => ({
    ...{ name: "", sourceId: header?.id ?? fileName, cwd: header?.cwd ?? "" },
    startedAt: isoTime(header?.timestamp) ?? writtenAt,
    ...{ parent: null, label: null, ownKey },
  });
  /** Ids of strangers may be anything. */
  const idOf = (id: string): string => (isPlain(id) ? id : hashOf(found().sourceId, id));
  const place = (entry: TranscriptEntry): ForeignEntry[] => {
    // Who says an id twice means the first by it.
    const wanted = idOf(entry.id);
    const id = ids.has(wanted) ? hashOf(found().sourceId, wanted, String(ids.size)) : wanted;
    const parent = entry.parentId === null ? null : idOf(entry.parentId);
    const isLost = parent === null ? isBehindGap : !ids.has(parent);
    const parentId = isLost ? newest : parent;
    isBehindGap = false;
    ids.add(id);
    newest = id;
    newestTime = isoTime(entry.timestamp) ?? (newestTime || found().startedAt);
    const moved = { ...entry, ...pointers(entry, idOf), id, parentId, timestamp: newestTime };
    return [{ session: "", entry: withoutDeepParts(moved) as TranscriptEntry }];
  };
  const take = ({ number, value }: ForeignLine): ForeignEntry[] => {
    const entry = entryIn(value);
    if (entry !== undefined) {
      tally.understood++;
      return place(entry);
    }
    count(tally.kept, textOf(memberOf(value, "type")));
    return place({
      ...recordOf(FORMAT, memberOf(value, "type"), value),
      id: textOr(memberOf(value, "id")) ?? hashOf(found().sourceId, `line ${number}`),
      parentId: textOr(memberOf(value, "parentId")) ?? newest,
      timestamp: textOf(memberOf(value, "timestamp")),
    });
  };
  return {
    read(line) {
      if (header === undefined) {
        const first = headerIn(line.value);
        if (first !== undefined) {
          header = first;
          ownKey = textOr(memberOf(line.value, "sessionKey"));
          tally.understood++;
          if (first.version < TRANSCRIPT_VERSION) older = [];
          return [];
        }
      }
      if (older !== undefined) {
        older.push(line);
        return [];
      }
      return take(line);
    },
    end() {
      if (header === undefined || older === undefined) return [];
      const lines = older;
      older = undefined;
      const reader = createTranscriptReader();
      reader.add(JSON.stringify(header));
      for (const { value } of lines) reader.add("{}", { value });
      const { entries, badLines } = reader.end();
      // What it could not read it gives by its place alone.
      const isBad = new Set(badLines.map(({ line }) => line - 2));
      const placed = entries.flatMap((entry) => (isUnread(entry) ? [] : place(entry)));
      const bad = lines.filter((_line, at) => isBad.has(at));
      tally.understood += lines.length - bad.length;
      return [...placed.slice(0, -1), ...bad.flatMap((line) => take(line)), ...placed.slice(-1)];
    },
    skipped() {
      isBehindGap = true;
    },
    session: found,
  };
}

const isUnread = (entry: TranscriptEntry): boolean =>
  entry.type === "custom" && entry.customType === "clew.unreadable";

const isPlain = (id: string): boolean => /^[\w-]{1,64}$/.test(id);

const textOr = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

function headerIn(value: unknown): TranscriptHeader | undefined {
  if (memberOf(value, "type") !== "session") return undefined;
  const parsed = parseTranscriptLine(JSON.stringify(withoutDeepParts(value)));
  return parsed.kind === "header" ? parsed.header : undefined;
}

function entryIn(value: unknown): TranscriptEntry | undefined {
  if (!isRecord(value) || value.type === "session") return undefined;
  const parsed = parseTranscriptLine(JSON.stringify(withoutDeepParts(value)));
  return parsed.kind === "entry" ? parsed.entry : undefined;
}

/** What of an entry names others. */
function pointers(entry: TranscriptEntry, idOf: (id: string) => string): object {
  switch (entry.type) {
    case "compaction":
      return { firstKeptEntryId: idOf(entry.firstKeptEntryId) };
    case "reset":
      return entry.firstKeptEntryId === undefined
        ? {}
        : { firstKeptEntryId: idOf(entry.firstKeptEntryId) };
    case "branch_summary":
      return { fromId: idOf(entry.fromId) };
    case "label":
      return { targetId: idOf(entry.targetId) };
    default:
      return {};
  }
}
