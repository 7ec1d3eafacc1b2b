// Listens where the settings say, and leaves no connection open when it stops.
import type { Server } from "node:http";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { createAdaptorServer } from "@hono/node-server";
import type { Environment } from "../config/environment.ts";
import { tokensOf } from "../config/gateway-auth.ts";
import { findStranger, nameStranger } from "../gateway-client.ts";
import { guardServer } from "../plugins/contain/guard-process.ts";
import { createCallers } from "./access/caller.ts";
import { type AppOptions, createApp } from "./app.ts";

export interface RunningServer {
  port: number;
  /** e.g. "http://127.0.0.1:18790". */
  url: string;
  /** What a person opens once, so that the page is theirs. */
  link: string;
  /** False: everybody on this machine may use it. */
  needsToken: boolean;
  /** False once nobody can reach it. */
  isListening(): boolean;
  close(): Promise<void>;
}

const LOOPBACK = "127.0.0.1";
const ANY_ADDRESS = "0.0.0.0";

/** How long a client may take for what it sends, ms, and how often that is looked after. */
const PATIENCE = { headersTimeout: 10_000, requestTimeout: 60_000 } as const;
const LOOK_MS = 2000;

export interface ServerOptions extends Omit<AppOptions, "port" | "callers" | "settings"> {
  /** 0 takes any free one. */
  port: number;
  environment: Pick<Environment, "variable">;
  /** For tests. */
  patience?: { headersTimeout: number; requestTimeout: number };
}

/** Throws PORT_UNAVAILABLE when the port is in use, CONFIG_INVALID for a token that is none. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { environment, patience = PATIENCE } = options;
  const settings = options.gateway.host.config.gateway;
  let port = options.port;
  const tokens = tokensOf(settings.auth, environment);
  const peers = options.gateway.cluster?.peers;
  const callers = createCallers({ identity: options.identity, tokens, port: () => port, peers });
  const app = createApp({ ...options, settings, callers, port: () => port });
  const looks = Math.min(LOOK_MS, patience.headersTimeout);
  // Request and Response are shared with plugins, whose changes of them are noticed.
  const given = { fetch: app.fetch, overrideGlobalObjects: false };
  const serverOptions = { ...patience, connectionsCheckingInterval: looks };
  const server = createAdaptorServer({ ...given, serverOptions }) as Server;
  guardServer(server);
  await listen(server, { port, host: settings.bind === "lan" ? ANY_ADDRESS : LOOPBACK }).catch(
    async (error: NodeJS.ErrnoException) => {
      throw await explainListenError(error, port, options.identity.homeHash);
    },
  );
  const address = server.address();
  if (typeof address === "object" && address !== null) port = address.port;
  // As long as it listens, somebody may answer.
  const leave = options.gateway.approvals.attach({
    ...{ canAnswer: true, asked: () => {}, over: () => {} },
  });
  return {
    port,
    url: `http://${LOOPBACK}:${port}`,
    link: callers.link(),
    needsToken: callers.needsToken,
    isListening: () => server.listening,
    close: () =>
      new Promise((resolve) => {
        leave();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, at: { port: number; host: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(at, resolve);
  });
}

async function explainListenError(
  error: NodeJS.ErrnoException,
  port: number,
  ownHash: string,
): Promise<Error> {
  const message = await reasonOf(error, port, ownHash);
  return message === null
    ? error
    : new ContextEngineError("PORT_UNAVAILABLE", message, { cause: error });
}

async function reasonOf(
  { code }: NodeJS.ErrnoException,
  port: number,
  ownHash: string,
): Promise<string | null> {
  if (code === "EADDRINUSE") {
    const stranger = await findStranger(port, ownHash);
    const who = stranger === null ? "another program" : nameStranger(stranger);
    return `Port ${port} is in use by ${who}; stop that program, or start with --port 0 for any free port.`;
  }
  if (code === "EACCES")
    return `Port ${port} may not be used by this account; choose one above 1023 with --port.`;
  return null;
}
