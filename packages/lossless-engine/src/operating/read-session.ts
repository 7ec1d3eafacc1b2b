// Reads a session file of OpenClaw, pi or an export, and says what of it is no message.
import { open } from "node:fs/promises";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import {
  activeBranch,
  type BadLine,
  createTranscriptReader,
  originsOf,
  type TranscriptEntry,
  type TranscriptHeader,
} from "@clew/plugin-sdk/transcript";
import { linesOf } from "../ingest/file-lines.ts";
import { othersTurn, pieceOfTime } from "../turns.ts";
import { type LineMessage, MARKS, readLine, startsHeartbeat } from "./session-lines.ts";

/** What a session file tells. */
export interface ReadSession {
  readonly sessionId: string;
  /** "": the file names none. */
  readonly sessionKey: string;
  /** Further transcripts of the same history; those of exports have some. */
  readonly further: readonly { readonly sessionId: string; readonly sessionKey: string }[];
  /** On its active branch, and on those that an export says were left; in file order. */
  readonly messages: readonly LineMessage[];
  /** Lines that hold no entry, in file order. */
  readonly badLines: readonly BadLine[];
  /** True: its last line is half written, as of an append that was interrupted. */
  readonly isTorn: boolean;
}

/** Throws FILE_NOT_FOUND, REQUEST_INVALID (no session file). */
export async function readSession(
  path: string,
  signal?: AbortSignal | undefined,
): Promise<ReadSession> {
  const file = await open(path, "r").catch((error: unknown) => {
    throw new ContextEngineError("FILE_NOT_FOUND", `${path} cannot be read; check the path.`, {
      cause: error,
    });
  });
  try {
    const reader = createTranscriptReader();
    let unfinished = "";
    let isOver = pieceOfTime();
    for await (const line of linesOf(file, 0)) {
      if (line.isEnded) reader.add(line.text);
      else unfinished = line.text;
      if (!isOver()) continue;
      await othersTurn();
      signal?.throwIfAborted();
      isOver = pieceOfTime();
    }
    const { header, entries, badLines, torn } = reader.end(unfinished);
    if (header === undefined)
      throw new ContextEngineError(
        "REQUEST_INVALID",
        `${path} is no session file: its first line is no session header; name a file of OpenClaw or pi, or an export.`,
      );
    return { ...namesIn(header), messages: messagesIn(entries), badLines, isTorn: torn };
  } finally {
    await file.close();
  }
}

function namesIn(
  header: TranscriptHeader,
): Pick<ReadSession, "sessionId" | "sessionKey" | "further"> {
  const { sessionKey, [MARKS]: marks } = header as TranscriptHeader & Record<string, unknown>;
  const { transcripts } = (marks ?? {}) as { transcripts?: unknown };
  const further = (Array.isArray(transcripts) ? transcripts : []).flatMap((each: unknown) => {
    const { sessionId, sessionKey: key } = (each ?? {}) as Record<string, unknown>;
    return typeof sessionId === "string" && typeof key === "string"
      ? [{ sessionId, sessionKey: key }]
      : [];
  });
  return {
    ...{ sessionId: header.id, further },
    sessionKey: typeof sessionKey === "string" ? sessionKey : "",
  };
}

/** Where a message was stored again, shorter or otherwise rewritten, as its first entry has it. */
function messagesIn(entries: readonly TranscriptEntry[]): LineMessage[] {
  const active = new Set(activeBranch(entries));
  const lines = entries.filter(
    (entry) => active.has(entry) || readLine(entry, entry.id, false)?.isLeft === true,
  );
  const origins = originsOf(lines);
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  let followsHeartbeat = false;
  return lines.flatMap((entry) => {
    const origin = origins.get(entry.id)!;
    const first = byId.get(origin);
    const told = first?.type === entry.type ? first : entry;
    const read = readLine(told, origin, followsHeartbeat);
    if (read === undefined) return [];
    followsHeartbeat = startsHeartbeat(read.message, followsHeartbeat);
    return [read];
  });
}
