// Listens on loopback, and leaves no connection open when it stops.
import type { Server } from "node:http";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { createAdaptorServer } from "@hono/node-server";
import { findStranger, nameStranger } from "../gateway-client.ts";
import { type AppOptions, createApp } from "./app.ts";

export interface RunningServer {
  port: number;
  /** e.g. "http://127.0.0.1:18790". */
  url: string;
  /** False once nobody can reach it. */
  isListening(): boolean;
  close(): Promise<void>;
}

const LOOPBACK = "127.0.0.1";

/** Port 0 takes any free one. Throws PORT_UNAVAILABLE when the port is in use. */
export async function startServer(
  options: Omit<AppOptions, "port" | "bodyBytes"> & { port: number },
): Promise<RunningServer> {
  let port = options.port;
  const { bodyBytes } = options.gateway.host.config.gateway.limits;
  const app = createApp({ ...options, bodyBytes, port: () => port });
  // Request and Response are shared with plugins, whose changes of them are noticed.
  const given = { fetch: app.fetch, overrideGlobalObjects: false };
  const server = createAdaptorServer(given) as Server;
  await listen(server, port).catch(async (error: NodeJS.ErrnoException) => {
    throw await explainListenError(error, port, options.identity.homeHash);
  });
  const address = server.address();
  if (typeof address === "object" && address !== null) port = address.port;
  // As long as it listens, somebody may answer.
  const leave = options.gateway.approvals.attach({
    ...{ canAnswer: true, asked: () => {}, over: () => {} },
  });
  return {
    port,
    url: `http://${LOOPBACK}:${port}`,
    isListening: () => server.listening,
    close: () =>
      new Promise((resolve) => {
        leave();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, LOOPBACK, resolve);
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
