// Listens on loopback and stops without leaving a connection.
import type { Server } from "node:http";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { createAdaptorServer } from "@hono/node-server";
import { type AppOptions, createApp } from "./app.ts";

export interface RunningServer {
  port: number;
  /** e.g. "http://127.0.0.1:18790". */
  url: string;
  close(): Promise<void>;
}

const LOOPBACK = "127.0.0.1";

/** Port 0 takes any free one. Throws CONFIG_INVALID when the port is in use. */
export async function startServer(
  options: Omit<AppOptions, "port"> & { port: number },
): Promise<RunningServer> {
  let port = options.port;
  const app = createApp({ ...options, port: () => port });
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  await listen(server, port);
  const address = server.address();
  if (typeof address === "object" && address !== null) port = address.port;
  return {
    port,
    url: `http://${LOOPBACK}:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(listenError(error, port)));
    server.listen(port, LOOPBACK, resolve);
  });
}

function listenError(error: NodeJS.ErrnoException, port: number): Error {
  if (error.code === "EADDRINUSE") {
    const message = `Port ${port} is in use, perhaps by another Clew; stop that program, or start with --port 0 for any free port.`;
    return new ContextEngineError("CONFIG_INVALID", message, { cause: error });
  }
  if (error.code === "EACCES") {
    return new ContextEngineError(
      "CONFIG_INVALID",
      `Port ${port} may not be used by this account; choose one above 1023 with --port.`,
      {
        cause: error,
      },
    );
  }
  return error;
}
