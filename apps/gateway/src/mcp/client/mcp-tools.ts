// Offers the tools of MCP servers, of all sessions or of one, however the servers are.
import type { HostSession, LogPort, ToolServerNote } from "@clew/engine-core";
import {
  askedFor,
  createLiveServer,
  describeLeft,
  type LiveServer,
  type McpServerStatus,
} from "./live-server.ts";
import type { OfferedTool } from "./offered-tools.ts";
import type { McpServer } from "./server.ts";
import { createToolNames } from "./tool-names.ts";

export interface McpToolsOptions {
  servers: readonly McpServer[];
  log: Pick<LogPort, "info" | "warn">;
  /** What every program finds of the environment; see `usualVariables`. */
  usual: Readonly<Record<string, string | undefined>>;
  /** Divides waits before a server is tried again, for tests. Absent: 1. */
  hurry?: number | undefined;
}

/** The tools of several servers. Nothing is loaded or started before they are first needed. */
export interface McpTools {
  /** Begins to connect, and waits for nobody. */
  start(): void;
  /**
   * Waits some seconds for servers that are being started, and reads lists anew that changed. Never
   * rejects.
   */
  refresh(request: { session: HostSession; signal: AbortSignal }): Promise<void>;
  /** Starts them all, and waits until each is there or was tried once. Never rejects. */
  settled(): Promise<void>;
  /** What this session is offered now. */
  list(session: Pick<HostSession, "agentId">): readonly OfferedTool[];
  /** Runs one of them, whoever allowed it. Rejects only when it is stopped. */
  call(offered: OfferedTool, ...asked: CallArguments): ReturnType<LiveServer["call"]>;
  /** What became known since the session was last told; at first, which servers are not there. */
  news(session: HostSession): readonly ToolServerNote[];
  /** Of those that an agent may use; of all where none is named. */
  status(session?: Pick<HostSession, "agentId">): McpServerStatus[];
  /** Connects one anew, and says how it is then; undefined = there is none of that name. */
  restart(name: string): Promise<McpServerStatus | undefined>;
  /** Ends all of them at once; a server that will not end is killed. */
  close(): Promise<void>;
}

type CallArguments = [given: Record<string, unknown>, signal: AbortSignal];

/** Notes that are kept for sessions that have not been told of them. */
const KEPT_NOTES = 200;
/** Sessions of which it is known what they were told. */
const KEPT_SESSIONS = 1000;

const USUAL = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];
const USUAL_ON_WINDOWS = [
  ...["APPDATA", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT"],
  ...["PROGRAMDATA", "PROGRAMFILES", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "USERNAME"],
  ...["USERPROFILE", "WINDIR"],
];

/** Pure. What every program is given of the environment. */
export const usualVariables = (
  variable: (name: string) => string | undefined,
): Record<string, string> =>
  Object.fromEntries(
    (process.platform === "win32" ? USUAL_ON_WINDOWS : USUAL).flatMap((name) => {
      const value = variable(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );

export function createMcpTools(options: McpToolsOptions): McpTools {
  const { log, usual, hurry } = options;
  const names = createToolNames();
  const notes: { at: number; note: ToolServerNote }[] = [];
  let noted = 0;
  const tell = (note: ToolServerNote) => {
    notes.push({ at: ++noted, note });
    if (notes.length > KEPT_NOTES) notes.shift();
  };
  const servers = options.servers.map((server) =>
    createLiveServer({ server, names, log, usual, tell, hurry }),
  );
  const told = new Map<string, number>();
  const of = ({ agentId }: Pick<HostSession, "agentId">) =>
    servers.filter(({ server }) => server.agents?.includes(agentId) ?? true);
  return {
    start() {
      for (const each of servers) each.start();
    },
    async settled() {
      await Promise.all(servers.map((each) => each.settled()));
    },
    async refresh({ session, signal }) {
      await Promise.all(of(session).map((each) => each.refresh(signal)));
    },
    list: (session) => of(session).flatMap((each) => each.tools()),
    call(offered, given, signal) {
      const live = servers.find(({ server }) => server.name === offered.server);
      return live!.call(offered, given, signal);
    },
    news(session) {
      const { sessionKey } = session;
      const since = told.get(sessionKey);
      told.delete(sessionKey);
      told.set(sessionKey, noted);
      if (told.size > KEPT_SESSIONS) told.delete(told.keys().next().value!);
      const own = of(session);
      if (since === undefined) return own.flatMap((each) => firstNote(each.status()));
      const ofOwn = new Set(own.map(({ server }) => server.name));
      return notes.flatMap(({ at, note }) => (at > since && ofOwn.has(note.server) ? [note] : []));
    },
    status: (session) =>
      (session === undefined ? servers : of(session)).map((each) => each.status()),
    async restart(name) {
      const live = servers.find(({ server }) => server.name === name);
      await live?.restart();
      return live?.status();
    },
    async close() {
      await Promise.all(servers.map((each) => each.close()));
    },
  };
}

/** Of a server that a session meets for the first time. */
function firstNote({ name: server, state, problem, left }: McpServerStatus): ToolServerNote[] {
  const title = `MCP server "${server}"`;
  const lacking = describeLeft(left);
  if (state === "ready")
    return lacking === null ? [] : [{ server, kind: "odd", text: `${title}: ${lacking}.` }];
  if (problem === null || state === "connecting") {
    const text = `${title} is still being started; its tools are offered once it is there.`;
    return [{ server, kind: "starting", text }];
  }
  const until = state === "off" ? askedFor(server) : "it is back";
  const text = `${title} is not there: ${problem.text}; its tools are not offered until ${until}.`;
  return [{ server, kind: state === "off" ? "off" : "away", text }];
}
