// Reads the messages of sessions for plugins.
import type { AgentMessage } from "@clew/plugin-sdk/core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { DEFAULT_AGENT_ID, isSafeId, parseSessionName } from "../../sessions/keys.ts";
import { agentPaths } from "../../sessions/paths.ts";
import { readBranch } from "../../sessions/read-transcript.ts";
import { createSessionFiles } from "./session-files.ts";

/** Which session; its key alone is enough. */
export interface TranscriptAsk {
  agentId?: string | undefined;
  sessionKey?: string | undefined;
  /** Of a transcript; absent: the one that the key has now. */
  sessionId?: string | undefined;
}

export interface TranscriptMessage {
  entryId: string;
  parentId: string | null;
  /** Its place among the messages of the branch, from 1 on. */
  seq: number;
  role: string;
  message: AgentMessage;
  /** ms since the epoch; absent: the entry does not say. */
  createdAt?: number;
  /** Of whoever sent it. Absent: nobody gave one. */
  idempotencyKey?: string;
}

export interface SessionTranscripts {
  /** Of the active branch since the last reset, oldest first; none where there is no session. */
  messages(ask: TranscriptAsk): Promise<TranscriptMessage[]>;
}

export function createSessionTranscripts(home: string): SessionTranscripts {
  const files = createSessionFiles(home);
  const fileOf = ({ agentId, sessionKey, sessionId }: TranscriptAsk): string | undefined => {
    const agent = agentId ?? parseSessionName(sessionKey ?? "")?.agentId ?? DEFAULT_AGENT_ID;
    if (!isSafeId(agent)) return undefined;
    const known = () =>
      files.loadSessionStore(agentPaths(home, agent).index)[sessionKey ?? ""]?.sessionId;
    const id = sessionId ?? known();
    return id !== undefined && isSafeId(id)
      ? files.resolveSessionFilePath(id, undefined, { agentId: agent })
      : undefined;
  };
  return {
    async messages(ask) {
      const file = fileOf(ask);
      if (file === undefined) return [];
      const read = await readBranch(file).catch((error: { code?: unknown }) => {
        if (error.code === "FILE_NOT_FOUND") return undefined;
        throw error;
      });
      return visibleMessages(read?.branch ?? []);
    },
  };
}

/** Pure. */
function visibleMessages(branch: readonly TranscriptEntry[]): TranscriptMessage[] {
  const since = branch.slice(branch.findLastIndex(({ type }) => type === "reset") + 1);
  const messages = since.flatMap((entry) => (entry.type === "message" ? [entry] : []));
  return messages.map(({ id, parentId, timestamp, message }, index) => {
    const createdAt = Date.parse(timestamp ?? "");
    const { idempotencyKey } = message as { idempotencyKey?: unknown };
    return {
      ...{ entryId: id, parentId, seq: index + 1, role: message.role },
      message: structuredClone(message),
      ...(!Number.isNaN(createdAt) && { createdAt }),
      ...(typeof idempotencyKey === "string" && { idempotencyKey }),
    };
  });
}
