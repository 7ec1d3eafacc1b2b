// What each address of the HTTP API is for, takes and answers.
import type { ErrorCode } from "@clew/plugin-sdk/core";
import type { HttpCode } from "./errors.ts";

/** Codes of Clew's own errors that routes name. */
type SaidError = Extract<
  ErrorCode,
  | "SESSION_NOT_FOUND"
  | "SESSION_LOCKED"
  | "SESSION_BUSY"
  | "BACKLOG_FULL"
  | "IDEMPOTENCY_KEY_REUSED"
  | "REQUEST_INVALID"
>;

export interface Operation {
  summary: string;
  /** What may stand behind "?". Absent: nothing. */
  query?: Readonly<Record<string, string>>;
  /** Named in `SCHEMAS` of openapi.ts. Absent: it takes no body. */
  body?: string;
  /** Named in `SCHEMAS`, or "text", "page", "lines", "events". */
  answer: string;
  /** What 503 comes with, as named in `SCHEMAS`. Absent: an error like others. */
  unready?: string;
  /** Besides those that every address answers with. Absent: none. */
  errors?: readonly (HttpCode | SaidError)[];
}

const LIMIT = { limit: "how many at most" };
const RESUMED = {
  lastEventId: "id of the last event that was heard, for who cannot send the header Last-Event-ID",
};
const NO_SESSION = ["SESSION_NOT_FOUND"] as const;

/** By method and path. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  "GET /api/health": {
    summary: "Says that the gateway runs, which home it serves, and what answers in it.",
    query: { nonce: "32 hex digits to be proven that this is the gateway of a home" },
    answer: "Health",
  },
  "GET /healthz": { summary: "Says that the gateway answers, to anybody.", answer: "Alive" },
  "GET /readyz": {
    summary: "Says whether messages can be answered; 503 while they cannot, and why.",
    answer: "Ready",
    unready: "Ready",
  },
  "GET /metrics": { summary: "What was counted, as Prometheus reads it.", answer: "text" },
  "GET /api/openapi.json": { summary: "This description.", answer: "OpenApi" },
  "GET /api/events": {
    summary:
      "Streams what happens in all sessions, or in one, while it happens at this gateway; of several that share a database each tells of its own sessions alone.",
    query: {
      since:
        "id of the last event that is known, of this gateway; default: begin with what is under way",
      session: "only of this session; default: of all",
    },
    answer: "events",
  },
  "GET /api/sessions": {
    summary: "A page of the sessions, newest first; `next` leads to the one behind it.",
    query: {
      limit: "1 to 1000, those that others started not counted; default: 200",
      after: "`next` of the page before",
      find: "only sessions with this in their names, titles or first words",
      all: "true: also requests that clients sent beside conversations; default: these are counted",
    },
    answer: "Sessions",
  },
  "GET /api/sessions/:key": {
    summary: "The newest entries of a session's active branch.",
    query: LIMIT,
    answer: "SessionPage",
    errors: NO_SESSION,
  },
  "DELETE /api/sessions/:key": {
    summary: "Deletes a session with the files that are its own, for the person of the home.",
    answer: "Removed",
    errors: ["SESSION_NOT_FOUND", "SESSION_BUSY", "SESSION_LOCKED", "FORBIDDEN"],
  },
  "GET /api/sessions/:key/transcript": {
    summary: "The session's file as it is stored, to be saved.",
    answer: "file",
    errors: NO_SESSION,
  },
  "GET /api/sessions/:key/messages": {
    summary: "The newest messages as they are shown to people, oldest first.",
    query: LIMIT,
    answer: "Messages",
    errors: NO_SESSION,
  },
  "POST /api/sessions/:key/messages": {
    summary:
      "Sends a message, and streams what comes of it; `done` or `error` is last. Sent again under its idempotencyKey with Last-Event-ID, the stream goes on behind that; 204 behind the last.",
    query: RESUMED,
    body: "MessageBody",
    answer: "turn",
    errors: [
      ...(["REQUEST_INVALID", "FORBIDDEN", "SESSION_BUSY", "SESSION_LOCKED"] as const),
      ...(["BACKLOG_FULL", "IDEMPOTENCY_KEY_REUSED"] as const),
    ],
  },
  "GET /api/sessions/:key/stream": {
    summary:
      "Streams the turn that runs in the session from its beginning, or from behind Last-Event-ID; 204 where there is nothing behind that.",
    query: RESUMED,
    answer: "turn",
    errors: ["REQUEST_INVALID", "SESSION_NOT_FOUND", "NOT_FOUND", "SESSION_LOCKED"],
  },
  "GET /api/sessions/:key/waiting": {
    summary: "The messages that wait for their turn in the session, in order.",
    answer: "Waiting",
  },
  "DELETE /api/sessions/:key/waiting": {
    summary: "Takes back all messages that wait in the session.",
    answer: "TakenBack",
  },
  "DELETE /api/sessions/:key/waiting/:id": {
    summary: "Takes back one message that waits.",
    answer: "TakenBack",
    errors: ["NOT_FOUND"],
  },
  "POST /api/sessions/:key/abort": {
    summary: "Cancels the running reply; `waiting` messages go on waiting, and have their turn.",
    answer: "Aborted",
  },
  "GET /api/sessions/:key/status": {
    summary: "How the session stands, as /status tells it: model, engine, context, cost.",
    answer: "Status",
  },
  "GET /api/sessions/:key/context": {
    summary: "What the model saw in the session's last call, and the fate of every entry.",
    answer: "Context",
    errors: NO_SESSION,
  },
  "GET /api/sessions/:key/context/:part/:index": {
    summary: "The whole text of one item of it; `part` is system, tools or messages.",
    answer: "text",
    errors: NO_SESSION,
  },
  "POST /api/sessions/:key/engine/retry": {
    summary: "Gives engines that were set aside another chance in the session.",
    answer: "EngineRetry",
    errors: ["SESSION_NOT_FOUND", "SESSION_LOCKED"],
  },
  "GET /api/sessions/:key/calls": {
    summary: "The session's model calls, a row each, oldest first.",
    query: {
      after: "id of a call; those behind it",
      before: "id of a call, or `newest`; those before it, or the newest ones",
      ...LIMIT,
    },
    answer: "CallPage",
    errors: [...NO_SESSION, "REQUEST_INVALID"],
  },
  "GET /api/sessions/:key/turn": {
    summary: "The turn that is under way, as its report would tell of it now.",
    answer: "TurnNow",
    errors: NO_SESSION,
  },
  "GET /api/sessions/:key/calls/:id": {
    summary: "One call in full: what was sent, why, and what stood in for what was not.",
    query: { limit: "at most so many of its items, the first ones, and no proof; default: all" },
    answer: "CallView",
    errors: [...NO_SESSION, "REQUEST_INVALID"],
  },
  "GET /api/sessions/:key/calls/:id/items": {
    summary: "Some of the things that a call sent, in the order of the wire.",
    query: { skip: "so many are left out", ...LIMIT },
    answer: "ItemPage",
    errors: [...NO_SESSION, "REQUEST_INVALID"],
  },
  "GET /api/sessions/:key/calls/:id/proof": {
    summary: "Whether the request of a call can be made again to the byte.",
    answer: "Proof",
    errors: NO_SESSION,
  },
  "GET /api/sessions/:key/calls/:id/items/:part/:index": {
    summary: "The whole text of one thing that was sent, and what is stored instead.",
    answer: "ItemText",
    errors: NO_SESSION,
  },
  "GET /api/sessions/:key/calls/:id/request": {
    summary: "The request of a call, made again, with its hash.",
    query: {
      form: '"sent" = the request alone, to the byte; 404 where it cannot be made again; absent or "full" = with its hashes',
    },
    answer: "RebuiltRequest",
    errors: [...NO_SESSION, "REQUEST_INVALID"],
  },
  "GET /api/sessions/:key/calls/:from/diff/:to": {
    summary: "What became different from one call to another.",
    answer: "CallDiff",
    errors: NO_SESSION,
  },
  "GET /api/sessions/:key/entries": {
    summary: "What became of each stored entry in a call.",
    query: {
      call: "id of a call; default: the newest",
      fate: "only entries with this fate",
      after: "number of an entry; those behind it",
      ...LIMIT,
    },
    answer: "EntryPage",
    errors: [...NO_SESSION, "REQUEST_INVALID"],
  },
  "GET /api/sessions/:key/summaries/:id": {
    summary: "A summary that stood in a call, and what it covers.",
    answer: "SummaryRow",
    errors: NO_SESSION,
  },
  "GET /api/sessions/:key/find": {
    summary: "Where a text is, in which calls it was shown, and what took it.",
    query: {
      text: "what is looked for",
      after: "number of an entry; those behind it",
      ...LIMIT,
    },
    answer: "FoundText",
    errors: [...NO_SESSION, "REQUEST_INVALID"],
  },
  "GET /api/sessions/:key/entries/:id": {
    summary: "One stored entry with its whole text.",
    query: { call: "id of a call; default: the newest" },
    answer: "EntryText",
    errors: NO_SESSION,
  },
  "GET /api/sessions/:key/entries/:id/calls": {
    summary: "What became of one stored entry from call to call.",
    answer: "EntryTrace",
    errors: NO_SESSION,
  },
  "GET /api/usage": {
    summary: "What model calls cost, by session, engine, model and day.",
    answer: "Usage",
  },
  "GET /api/sessions/:key/usage": {
    summary: "What a session's model calls cost.",
    answer: "Usage",
    errors: NO_SESSION,
  },
  "GET /api/sessions/:key/shadow": {
    summary: "What a shadow engine would have sent, beside what was sent.",
    query: LIMIT,
    answer: "Shadow",
    errors: NO_SESSION,
  },
  "POST /api/sessions/:key/whatif": {
    summary: "Plays the session as another engine, window or model would have it, as a stream.",
    body: "WhatIfAsk",
    answer: "turn",
    errors: ["REQUEST_INVALID", "SESSION_NOT_FOUND", "BUSY"],
  },
  "GET /api/approvals": {
    summary: "Tools that wait to be allowed, oldest first.",
    query: { session: "only in this session and those below it; default: in all" },
    answer: "Approvals",
  },
  "GET /api/approvals/link": {
    summary: "The link that lets a browser answer.",
    answer: "Link",
    errors: ["FORBIDDEN"],
  },
  "POST /api/approvals/:id/:answer": {
    summary: "Answers once, session or no.",
    query: { from: "chat: a person answers in it; only commands of the home say so" },
    answer: "Answered",
    errors: ["REQUEST_INVALID", "FORBIDDEN", "APPROVAL_OVER"],
  },
  "GET /api/mcp": {
    summary: "How the MCP servers are whose tools agents use.",
    query: {
      session: "with those of this session; default: of the settings",
      start: "anything: start those that nobody needed yet, and wait for them",
    },
    answer: "McpServers",
  },
  "POST /api/mcp/:name/restart": {
    summary: "Connects to an MCP server of the settings anew.",
    answer: "McpServer",
    errors: ["NOT_FOUND"],
  },
  "GET /open/:key": {
    summary: "The page, in which this browser may answer from now on.",
    answer: "page",
    errors: ["FORBIDDEN"],
  },
  "GET /api/engine": {
    summary: "The engine that answers, why, and how it stands.",
    query: { session: "in this session; default: in none" },
    answer: "Engine",
  },
  "POST /api/acp": {
    summary:
      "Connects an editor (Agent Client Protocol): streams what it is told, a message of JSON-RPC per line, behind a line with the `connection`.",
    query: { agent: "whose sessions it begins; default: the default agent" },
    answer: "lines",
    errors: ["FORBIDDEN", "REQUEST_INVALID"],
  },
  "POST /api/acp/:id": {
    summary: "Takes one message of JSON-RPC from the editor of that connection.",
    body: "AcpMessage",
    answer: "AcpTaken",
    errors: ["FORBIDDEN", "REQUEST_INVALID", "NOT_FOUND"],
  },
  "POST /api/stop": {
    summary: "Ends the gateway, for the person of this home.",
    query: { grace: "seconds that running replies get" },
    answer: "Stopping",
    errors: ["FORBIDDEN", "REQUEST_INVALID"],
  },
  "GET /api/plugins": { summary: "All plugins, loaded or not.", answer: "Plugins" },
  "POST /api/plugins/reload": {
    summary: "Loads all plugins again; running replies end with what they began with.",
    answer: "Plugins",
  },
  "POST /api/plugins/:id/actions/:action": {
    summary: "Runs a session action of a plugin.",
    body: "Action",
    answer: "ActionResult",
  },
  "POST /api/plugins/methods/:name": {
    summary: "Runs a gateway method of a plugin, for the person of this home.",
    body: "MethodCall",
    answer: "MethodResult",
    errors: ["FORBIDDEN"],
  },
};
