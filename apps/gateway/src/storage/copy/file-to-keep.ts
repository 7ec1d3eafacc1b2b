// Describes a file of a home to a database that keeps it as it is.
import type { FileToKeep } from "@clew/store-postgres";
import { bytesIn, type HomeFile } from "./walk-home.ts";

export const fileToKeep = (
  file: HomeFile & { sha: string },
  { agentId, sessionId, head }: { agentId: string; sessionId: string | null; head: number | null },
): FileToKeep => ({
  ...{ place: file.place, agentId, sessionId, kind: file.kind, isOwn: file.isOwn },
  ...{ size: file.size, sha: file.sha, head, changedAt: file.changedAt },
  bytes: () => bytesIn(file),
});
