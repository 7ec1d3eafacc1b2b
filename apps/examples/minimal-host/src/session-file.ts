// Keeps a session in a file, and beside it what engines have acknowledged.
import { randomUUID } from "node:crypto";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createDeliveryLedger, partOfBranch, type TranscriptPort } from "@clew/engine-core";
import type { CompactionTranscript } from "@clew/legacy-engine";
import {
  activeBranch,
  parseTranscript,
  placeEntry,
  TRANSCRIPT_VERSION,
} from "@clew/plugin-sdk/transcript";

/** Only one process may have a session open; a real host locks the file. */
export function openSession(
  sessionFile: string,
  sessionKey: string,
): TranscriptPort & CompactionTranscript {
  const transcript = openLines(sessionFile);
  const { header: found, entries } = parseTranscript(transcript.text);
  if (found === undefined && transcript.text !== "")
    throw new Error(`${sessionFile} is no session.`);
  const timestamp = () => new Date().toISOString();
  const fresh = { type: "session", version: TRANSCRIPT_VERSION, id: randomUUID(), cwd: "" };
  const header = found ?? { ...fresh, timestamp: timestamp() };
  const branch = activeBranch(entries);
  let isStored = found !== undefined;

  const ledger = openLines(sessionFile.replace(/(\.jsonl)?$/, ".deliveries.jsonl"));
  return {
    session: { agentId: "main", sessionId: header.id, sessionKey, sessionFile },
    exists: () => isStored,
    read: async (part) => partOfBranch(branch, part),
    branch: () => branch.slice(), // For the built-in compaction.
    append: async (added) => {
      let parentId = branch.at(-1)?.id ?? null;
      const placed = added.map((entry) => {
        const place = { id: randomUUID(), parentId, timestamp: timestamp() };
        parentId = place.id;
        return placeEntry(entry, place);
      });
      transcript.append(isStored ? placed : [header, ...placed]);
      isStored = true;
      branch.push(...placed);
      return placed;
    },
    rewrite: async () => {
      const reason = "this host rewrites nothing";
      return { changed: false, bytesFreed: 0, rewrittenEntries: 0, reason };
    },
    deliveries: createDeliveryLedger({
      earlier: ledger.text.split("\n").flatMap(parseLine),
      write: async (engineId, change) => ledger.append([{ engineId, change }]),
    }),
  };
}

/** JSON values, one a line; what was cut off by a crash or a full disk stays a line of its own. */
function openLines(path: string) {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  let isWhole = text === "" || text.endsWith("\n");
  return {
    text,
    append(values: readonly unknown[]): void {
      const lines = values.map((value) => `${JSON.stringify(value)}\n`).join("");
      const start = isWhole ? "" : "\n";
      isWhole = false;
      // Flushed: what the caller takes for stored must survive a power cut.
      appendFileSync(path, start + lines, { flush: true });
      isWhole = true;
    },
  };
}

/** What cannot be read is delivered once more, under the same ids. */
function parseLine(line: string) {
  try {
    return [JSON.parse(line)];
  } catch {
    return [];
  }
}
