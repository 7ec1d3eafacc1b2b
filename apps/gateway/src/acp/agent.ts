// Speaks the Agent Client Protocol with one editor, for the gateway that holds the sessions.
import { randomUUID } from "node:crypto";
import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import {
  type AgentContext,
  agent,
  type ClientCapabilities,
  type ListSessionsRequest,
  type ListSessionsResponse,
  type LoadSessionRequest,
  methods,
  type NewSessionRequest,
  PROTOCOL_VERSION,
  RequestError,
  type ResumeSessionRequest,
  type Stream,
} from "@agentclientprotocol/sdk";
import type { LogPort } from "@clew/engine-core";
import { concerns } from "../approvals/approval.ts";
import { isEditors } from "../editors/editor-records.ts";
import type { Gateway } from "../gateway.ts";
import { parseSessionName } from "../sessions/keys.ts";
import { VERSION } from "../version.ts";
import { askInEditor } from "./permissions.ts";
import { invalid, noSuchSession, refusalOf, withCodes } from "./refusal.ts";
import { describeUnused, planServers } from "./servers.ts";
import { type EditorSession, openEditorSession } from "./session.ts";

export interface EditorConnectionOptions {
  gateway: Gateway;
  log: LogPort;
  /** Whose sessions an editor begins. */
  agentId: string;
}

export interface EditorConnection {
  /** Settles when the editor is gone and all that it asked for is over and stored. */
  readonly closed: Promise<void>;
  close(): void;
}

/** Sessions on one page of a list. */
const PAGE = 100;

/** Reads and writes messages of JSON-RPC until one side ends the stream. */
export function connectEditor(options: EditorConnectionOptions, stream: Stream): EditorConnection {
  const { gateway, log, agentId } = options;
  const sessions = new Map<string, EditorSession>();
  let capabilities: ClientCapabilities = {};
  const opened = (sessionId: string): EditorSession => {
    const session = sessions.get(sessionId);
    if (session === undefined) throw noSuchSession(sessionId, "open here; load or resume it first");
    return session;
  };
  const leave = async (sessionId: string) => {
    const session = sessions.get(sessionId);
    sessions.delete(sessionId);
    await session?.close();
  };
  const open = async (
    client: AgentContext,
    { sessionId, key, asked }: { sessionId: string; key: string; asked: Place },
  ): Promise<EditorSession> => {
    const { cwd, mcpServers = [] } = asked;
    // One that is loaded again begins anew.
    await leave(sessionId);
    const isAsked = mcpServers.length > 0;
    const runsIn = !isAsked
      ? null
      : await gateway.host.harness(parseSessionName(key)!.agentId, key);
    const unused = describeUnused(mcpServers, runsIn);
    const servers =
      isAsked && unused === null ? gateway.mcp.attach(key, planServers(mcpServers, cwd)) : null;
    const session = openEditorSession({
      ...{ gateway, log, client, capabilities, sessionId, key, cwd },
      ...{ servers, untold: unused },
    });
    sessions.set(sessionId, session);
    return session;
  };
  /** Once the editor knows the session. */
  const announceSoon = (session: EditorSession) =>
    setImmediate(() => {
      const announced = session.announce().then(() => gateway.waiting.resume(session.key));
      announced.catch((error: unknown) => {
        log.warn(`a session was not begun in full in an editor: ${refusalOf(error).message}`);
      });
    });
  const reopen = async (client: AgentContext, asked: Place & { sessionId: string }) => {
    const { sessionId, cwd } = asked;
    await requireFolder(cwd);
    const key = keyOf(gateway, sessionId);
    const isThere = (await gateway.store.find(key)) !== null;
    if (!isThere && gateway.editors.recordOf(key) === undefined)
      throw noSuchSession(sessionId, "in this home; session/list tells which there are");
    if (gateway.editors.recordOf(key)?.cwd !== cwd) await gateway.editors.change(key, { cwd });
    return open(client, { sessionId, key, asked });
  };
  const connection = agent({ name: "clew" })
    .onRequest(methods.agent.initialize, ({ params }) => {
      capabilities = params.clientCapabilities ?? {};
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: "clew", title: "Clew", version: VERSION },
        authMethods: [],
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, audio: false, embeddedContext: true },
          mcpCapabilities: { http: true, sse: false },
          sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
        },
      };
    })
    .onRequest(methods.agent.session.new, ({ params, client }) =>
      told(async () => {
        const asked: NewSessionRequest = params;
        await requireFolder(asked.cwd);
        const key = gateway.canonicalKey(`agent:${agentId}:acp:${randomUUID()}`);
        await gateway.editors.change(key, { cwd: asked.cwd });
        const session = await open(client, { sessionId: key, key, asked });
        announceSoon(session);
        return { sessionId: key, ...(await session.state()) };
      }),
    )
    .onRequest(methods.agent.session.load, ({ params, client }) =>
      told(async () => {
        const asked: LoadSessionRequest = params;
        const session = await reopen(client, asked);
        await session.replay();
        announceSoon(session);
        return session.state();
      }),
    )
    .onRequest(methods.agent.session.resume, ({ params, client }) =>
      told(async () => {
        const asked: ResumeSessionRequest = params;
        const session = await reopen(client, asked);
        announceSoon(session);
        return session.state();
      }),
    )
    .onRequest(methods.agent.session.list, ({ params }) => told(() => listIn(gateway, params)))
    .onRequest(methods.agent.session.close, ({ params: { sessionId } }) =>
      told(async () => {
        const { key } = opened(sessionId);
        await leave(sessionId);
        await removeUnsaid(key);
        return {};
      }),
    )
    .onRequest(methods.agent.session.delete, ({ params: { sessionId } }) =>
      told(async () => {
        const key = keyOf(gateway, sessionId);
        await leave(sessionId);
        const isKnown = gateway.editors.recordOf(key) !== undefined;
        if ((await gateway.store.find(key)) !== null) await gateway.remove(key);
        else if (isKnown) await gateway.editors.remove(key);
        else throw noSuchSession(sessionId, "in this home");
        return {};
      }),
    )
    .onRequest(methods.agent.session.prompt, ({ params, signal }) =>
      told(async () => opened(params.sessionId).prompt(params.prompt, signal)),
    )
    .onRequest(methods.agent.session.setMode, ({ params: { sessionId, modeId } }) =>
      told(async () => {
        await opened(sessionId).setMode(modeId);
        return {};
      }),
    )
    .onRequest(methods.agent.session.setConfigOption, ({ params }) =>
      told(async () => ({
        configOptions: await opened(params.sessionId).setOption(params.configId, params.value),
      })),
    )
    .onNotification(methods.agent.session.cancel, ({ params: { sessionId } }) => {
      sessions.get(sessionId)?.cancel();
    })
    .connect(withCodes(stream));
  const stopAsking = askInEditor({
    ...{ approvals: gateway.approvals, client: connection.client, log },
    note: (sessionId, text) => sessions.get(sessionId)?.note(text),
    sessionOf: (approval) => [...sessions.values()].find(({ key }) => concerns(approval, key)),
  });
  /** Nothing is left of a session in which nothing was said. */
  async function removeUnsaid(key: string): Promise<void> {
    if (gateway.isStopping() || !isEditors(key)) return;
    if ((await gateway.store.find(key)) === null) await gateway.editors.remove(key);
  }
  return {
    close: () => connection.close(),
    closed: connection.closed.then(async () => {
      stopAsking();
      const left = [...sessions.values()];
      await Promise.all(left.map(({ sessionId }) => leave(sessionId)));
      await Promise.all(left.map(({ key }) => removeUnsaid(key)));
    }),
  };
}

type Place = Pick<LoadSessionRequest, "cwd"> & Partial<Pick<LoadSessionRequest, "mcpServers">>;

/** What is thrown becomes an error of the protocol, with a code of ours in its data. */
async function told<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const { code, message, data } = refusalOf(error);
    throw new RequestError(code, message, data);
  }
}

async function requireFolder(cwd: string): Promise<void> {
  if (!isAbsolute(cwd)) throw invalid(`cwd is "${cwd}", and has to be an absolute path.`);
  const found = await stat(cwd).catch(() => undefined);
  if (found?.isDirectory() !== true) throw invalid(`cwd is "${cwd}", which is no folder.`);
}

/** Throws AcpRefusal for what is no name of a session. */
function keyOf(gateway: Gateway, sessionId: string): string {
  try {
    return gateway.canonicalKey(sessionId);
  } catch {
    throw noSuchSession(sessionId, "in this home; session/list tells which there are");
  }
}

async function listIn(
  gateway: Gateway,
  { cwd, cursor }: ListSessionsRequest,
): Promise<ListSessionsResponse> {
  const { editors, host } = gateway;
  if (cwd != null && !isAbsolute(cwd))
    throw invalid(`cwd is "${cwd}", and has to be an absolute path.`);
  const { sessions: all } = await gateway.sessionPage({ limit: Number.POSITIVE_INFINITY });
  const rows = all.flatMap((row) => {
    const { key, agentId, updatedAt, depth } = row;
    const record = editors.recordOf(key);
    const folder = record?.cwd ?? host.workspace(agentId, key);
    const title = record?.title ?? row.label ?? row.title ?? row.firstWords;
    const isWanted = depth === 0 && (cwd == null || cwd === folder);
    const about = { sessionId: key, cwd: folder, updatedAt };
    return isWanted ? [{ ...about, ...(title !== undefined && { title }) }] : [];
  });
  const after = cursor == null ? -1 : rows.findIndex(({ sessionId }) => sessionId === cursor);
  if (cursor != null && after < 0) throw invalid("The cursor is of no page; list from the start.");
  const sessions = rows.slice(after + 1, after + 1 + PAGE);
  const hasMore = after + 1 + PAGE < rows.length;
  return { sessions, ...(hasMore && { nextCursor: sessions.at(-1)!.sessionId }) };
}
