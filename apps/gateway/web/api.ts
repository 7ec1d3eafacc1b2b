// The calls of the gateway's HTTP API that the chat makes.
import type { QuarantineRecord } from "@clew/engine-core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import type { Approval, ApprovalAnswer } from "../src/approvals/approval.ts";
import { parseLine } from "../src/commands/parse.ts";
import type { WhenBusy } from "../src/config/when-busy.ts";
import type { StreamedEvent } from "../src/http/event-stream.ts";
import type { SafeModePlugin } from "../src/plugins/load/record.ts";
import type { ContextView } from "../src/reports/context-view.ts";
import type { ListedChild } from "../src/subagents/session-tree.ts";
import type { WaitingView } from "../src/waiting/waiting-message.ts";
import { createHttp, sessionPath } from "./http.ts";
import { PATIENT, resumeTurn } from "./resumed-turn.ts";

export interface Health {
  version: string;
  pid: number;
  uptimeMs: number;
  /** "provider/id". */
  model: string;
  engine: { configured: string | null; known: string[]; quarantined: QuarantineRecord[] };
  /** Plugins that are off because they blocked the gateway. */
  safeMode: SafeModePlugin[];
  /** In all sessions. Absent: a gateway of an earlier version does not tell; likewise the next. */
  turns?: { running: number; waiting: number };
  /** Why no message can be taken, one sentence each; empty: it can. */
  notReady?: string[];
}

export interface SessionRow {
  key: string;
  /** What people call it. Absent: they gave it no name but its key. */
  label?: string;
  /** ISO 8601. */
  updatedAt: string;
  busy: boolean;
  /** Clew made it to be looked at, and nobody said it. */
  demo: boolean;
  /** Who is at its other end. Absent: Clew itself. */
  client?: string;
  /** That its client had made for it. Absent: none is known. */
  title?: string;
  /** Of the person. Absent: nothing is said in words. */
  firstWords?: string;
  /** Its client sent it beside a conversation. Absent: it is one. */
  sideRequest?: { of: string | null };
  /** How many sessions stand above it. */
  depth: number;
  /** Null: nobody started it but a person. */
  child: ListedChild | null;
}

export interface SessionView extends Omit<SessionRow, "demo" | "depth" | "child"> {
  /**
   * All entries of the active branch; `entries` are the newest of them. Null: there are more, and
   * nobody has counted them.
   */
  totalEntries: number | null;
  entries: TranscriptEntry[];
}

export interface SessionsAsked {
  limit: number;
  /** A part of their names, titles or first words; "" = any. */
  find: string;
  /** Also what clients sent beside conversations. */
  all: boolean;
}

export type ContextPart = "system" | "tools" | "messages";

export interface Api {
  health(): Promise<Health>;
  /**
   * The newest, as many as asked for; `hasMore`: there are others behind them; `sideRequests`: so
   * many were left out.
   */
  sessions(
    asked: SessionsAsked,
  ): Promise<{ sessions: SessionRow[]; hasMore: boolean; sideRequests: number }>;
  /** The newest `limit` entries; null when nothing was said in the session yet. */
  session(key: string, limit: number): Promise<SessionView | null>;
  /** Null when no model was called in the session yet. */
  context(key: string): Promise<ContextView | null>;
  /** The whole text of one item. */
  contextItem(key: string, part: ContextPart, index: number): Promise<string>;
  /** What turns wait for, in all sessions, and whether this browser may answer. */
  approvals(): Promise<{ approvals: Approval[]; mayAnswer: boolean }>;
  /** What became of it, also where somebody was faster. */
  answerApproval(id: string, answer: ApprovalAnswer): Promise<string>;
  /** Cancels the running reply. */
  abort(key: string): Promise<void>;
  /** What waits for its turn, in order. */
  waiting(key: string): Promise<WaitingView[]>;
  /** Takes back what waits: one message, or all of them. */
  takeBack(key: string, id?: string): Promise<void>;
  /** One turn, event by event, also where connections break meanwhile. */
  send(key: string, text: string, whenBusy?: WhenBusy): AsyncGenerator<StreamedEvent>;
}

/** A gateway that does not say how it is for so long is as good as away. */
const HEALTH_TIMEOUT_MS = 5000;

/** `origin`: "" on the page itself. */
export function createApi(origin = ""): Api {
  const { find: request, get: known } = createHttp(origin);
  const orNull = async <Body>(response: Response | null) =>
    response === null ? null : ((await response.json()) as Body);

  return {
    health: async () =>
      (
        await known("/api/health", { signal: AbortSignal.timeout(HEALTH_TIMEOUT_MS) })
      ).json() as Promise<Health>,
    async sessions({ limit, find, all }) {
      const query = new URLSearchParams({ limit: String(limit), find, all: String(all) });
      const page = (await (await known(`/api/sessions?${query}`)).json()) as {
        sessions: SessionRow[];
        next: string | null;
        sideRequests?: number;
      };
      const { sessions, next, sideRequests = 0 } = page;
      return { sessions, hasMore: next !== null, sideRequests };
    },
    session: async (key, limit) => orNull(await request(`${sessionPath(key)}?limit=${limit}`)),
    context: async (key) => orNull(await request(`${sessionPath(key)}/context`)),
    contextItem: async (key, part, index) =>
      (await known(`${sessionPath(key)}/context/${part}/${index}`)).text(),
    approvals: async () =>
      (await known("/api/approvals")).json() as Promise<{
        approvals: Approval[];
        mayAnswer: boolean;
      }>,
    answerApproval: async (id, answer) => {
      const path = `/api/approvals/${encodeURIComponent(id)}/${answer}`;
      const answered = (await (await known(path, { method: "POST" })).json()) as { text: string };
      return answered.text;
    },
    abort: async (key) => void (await known(`${sessionPath(key)}/abort`, { method: "POST" })),
    async waiting(key) {
      const answer = (await (await known(`${sessionPath(key)}/waiting`)).json()) as {
        waiting: WaitingView[];
      };
      return answer.waiting;
    },
    // One that waits no more is gone, whoever took it.
    async takeBack(key, id) {
      const one = id === undefined ? "" : `/${encodeURIComponent(id)}`;
      await request(`${sessionPath(key)}/waiting${one}`, { method: "DELETE" });
    },
    send(key, text, whenBusy) {
      // Under a name it is said once, however often it is sent.
      const body = JSON.stringify({ text, whenBusy, idempotencyKey: newName() });
      const isCommand = parseLine(text).kind === "command";
      return resumeTurn({
        waitMs: isCommand ? () => undefined : PATIENT,
        ask: (since) =>
          known(`${sessionPath(key)}/messages`, {
            method: "POST",
            headers: {
              "content-type": "application/json",
              ...(since !== undefined && { "last-event-id": since }),
            },
            body,
          }),
      });
    },
  };
}

/** Not `randomUUID`: pages that came over plain HTTP have none. */
const newName = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
