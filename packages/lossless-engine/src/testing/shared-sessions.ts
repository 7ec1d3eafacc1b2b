// Keeps rows of engines in memory, for machines that have sessions one after the other.
import {
  type AgentMessage,
  ContextEngineError,
  type EngineRow,
  type EngineRows,
  messageId,
  type SessionRows,
} from "@clew/plugin-sdk/core";
import { type TranscriptEntry, withMessageId } from "@clew/plugin-sdk/transcript";

/** What becomes of a call: it is done, or not, or done without an answer. */
export type Fate = "done" | "failed" | "unknown";

export interface SharedSessions {
  /** A machine that has the sessions it opened until another one opens them. */
  machine(): EngineRows & { open(sessionId: string): void; close(sessionId: string): void };
  /** Adds entries to a session's transcript, on its newest branch. */
  append(sessionId: string, messages: readonly AgentMessage[], after?: string): TranscriptEntry[];
  /** All messages of a session, by the ids of their entries. */
  saidIn(sessionId: string): AgentMessage[];
  /** All rows of a session. */
  rows(sessionId: string): EngineRow[];
  /** What happens to each call from now on. Absent: it is done. */
  fateOf: ((call: "load" | "store" | "reserve" | "lines", sessionId?: string) => Fate) | undefined;
  /** Waited for before each call. Absent: nothing is. */
  pause: ((call: "load" | "store" | "reserve" | "lines") => Promise<void>) | undefined;
  /** How many rows were stored, and how often. */
  readonly written: { rows: number; calls: number };
}

interface Held {
  epoch: number;
  changedAt: number;
  readonly rows: Map<string, EngineRow>;
  readonly entries: TranscriptEntry[];
}

/** `gaps` true: numbers come in blocks, as where several machines ask for them. */
export function shareSessions({
  gaps = false,
  keyOf = (id: string) => `agent:main:${id}`,
} = {}): SharedSessions {
  const sessions = new Map<string, Held>();
  const numbers = new Map<string, number>();
  const held = (id: string) => {
    const found: Held = sessions.get(id) ?? {
      epoch: 0,
      changedAt: 0,
      rows: new Map(),
      entries: [],
    };
    sessions.set(id, found);
    return found;
  };
  const written = { rows: 0, calls: 0 };
  async function call<Answer>(
    kind: "load" | "store" | "reserve" | "lines",
    work: () => Answer,
    sessionId?: string,
  ): Promise<Answer> {
    await shared.pause?.(kind);
    const fate = shared.fateOf?.(kind, sessionId) ?? "done";
    const answer = fate === "failed" ? undefined : work();
    if (fate !== "done") throw new ContextEngineError("STORAGE_FAILED", `${kind}: ${fate}`);
    return answer as Answer;
  }
  const shared: SharedSessions = {
    fateOf: undefined,
    pause: undefined,
    written,
    saidIn: (id) =>
      held(id).entries.flatMap((entry) =>
        entry.type === "message" ? [withMessageId(entry.message, entry.id)] : [],
      ),
    rows: (id) => [...held(id).rows.values()].filter(({ body }) => body !== null),
    append(id, messages, after) {
      const session = held(id);
      session.changedAt = Date.now();
      const { entries } = session;
      let parentId: string | null = after ?? entries.at(-1)?.id ?? null;
      const added = messages.map((message) => {
        const given = messageId(message);
        const { id: _id, ...said } = message as AgentMessage & { id?: string };
        const entry = {
          ...{ type: "message", id: given ?? `n${entries.length}`, parentId },
          ...{ timestamp: new Date(0).toISOString(), message: said },
        } as TranscriptEntry;
        parentId = entry.id;
        entries.push(entry);
        return entry;
      });
      return added;
    },
    machine() {
      const open = new Map<string, SessionRows>();
      return {
        open(id) {
          const session = held(id);
          const epoch = ++session.epoch;
          const isOwn = () => held(id).epoch === epoch;
          const readOnly = (of: string): Pick<SessionRows, "load" | "lines"> => ({
            load: () =>
              call(
                "load",
                () => [...held(of).rows.values()].filter(({ body }) => body !== null),
                of,
              ),
            lines: ({ after, limit }) =>
              call("lines", () =>
                held(of)
                  .entries.slice(after, after + limit)
                  .map((entry) => JSON.stringify(entry)),
              ),
          });
          open.set(id, {
            ...readOnly(id),
            beside: readOnly,
            others: async (since) =>
              [...sessions]
                .filter(([of, { changedAt }]) => of !== id && changedAt >= since)
                .map(([sessionId, { changedAt }]) => ({
                  ...{ sessionId, sessionKey: keyOf(sessionId), changedAt },
                })),
            store: (rows) =>
              call("store", () => {
                if (!isOwn()) return "lost";
                written.calls++;
                written.rows += rows.length;
                for (const row of rows) session.rows.set(JSON.stringify([row.kind, row.key]), row);
                return "stored";
              }),
          });
        },
        close: (id) => void open.delete(id),
        of: ({ sessionId }) => open.get(sessionId),
        reserve: (kind, { count, above }) =>
          call("reserve", () => {
            const first = gaps ? Math.max(numbers.get(kind) ?? 1, above + 1) : above + 1;
            numbers.set(kind, first + count);
            return first;
          }),
      };
    },
  };
  return shared;
}
