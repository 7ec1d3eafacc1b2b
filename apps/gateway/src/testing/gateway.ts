// A gateway with its HTTP server on a free port, for tests.
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { readEnvironment } from "../config/environment.ts";
import { checkConfigText } from "../config/load.ts";
import { createGateway } from "../create-gateway.ts";
import type { Gateway, GatewayOptions } from "../gateway.ts";
import { claimHome } from "../home/claim.ts";
import { type ServerOptions, startServer } from "../http/server.ts";
import { createLog } from "../log/log.ts";
import { startPlugins } from "../plugins/start.ts";
import { openStorage } from "../storage/open-storage.ts";
import { temporaryHome } from "./home.ts";

export interface StreamedTurn {
  events: { type: string; [key: string]: unknown }[];
  text: string;
}

export interface TestGateway {
  home: string;
  url: string;
  gateway: Gateway;
  get(path: string, init?: RequestInit): Promise<Response>;
  /** Sends a message and reads the stream to its end. */
  say(text: string, options?: { session?: string }): Promise<StreamedTurn>;
  stop(): Promise<void>;
}

export async function startTestGateway(
  config: Record<string, unknown> = {},
  home?: string,
  variables: Readonly<Record<string, string>> = {},
  {
    harnesses,
    withPlugins = false,
    ...given
  }: { withPlugins?: boolean } & Partial<Pick<ServerOptions, "patience" | "port">> &
    Pick<GatewayOptions, "harnesses"> = {},
): Promise<TestGateway> {
  const folder = home ?? (await temporaryHome());
  const environment = readEnvironment({ CLEW_HOME: folder, HOME: folder, ...variables });
  const loaded = checkConfigText(JSON.stringify(config), "clew.json");
  const log = createLog({ file: join(folder, "logs/gateway.log") });
  const storage = await openStorage({
    ...{ environment, config: loaded.config, address: "http://127.0.0.1:1" },
  });
  const plugins = withPlugins ? await startPlugins({ environment, loaded, log }) : undefined;
  const gateway = createGateway({
    ...{ environment, loaded, log, harnesses, storage },
    ...(plugins !== undefined && { plugins }),
  });
  const page = new Map([
    ["/", { bytes: new TextEncoder().encode("<p>page</p>"), type: "text/html; charset=utf-8" }],
  ]);
  const claim = await claimHome(folder);
  const { identity } = claim;
  const server = await startServer({
    ...{ gateway, log, page, version: "0.0.0", identity, port: 0, environment },
    ...given,
  });
  claim.announce(server.port);
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= gateway
      .close()
      .then(() => server.close())
      .then(() => log.close())
      .then(() => claim.release());
    return stopped;
  };
  onTestFinished(stop);
  const { url } = server;
  const get = (path: string, init?: RequestInit) => fetch(`${url}${path}`, init);
  const say: TestGateway["say"] = async (text, { session = "main" } = {}) => {
    const response = await get(
      `/api/sessions/${encodeURIComponent(session)}/messages`,
      post({ text }),
    );
    return parseStream(await response.text());
  };
  return { home: folder, url, gateway, get, say, stop };
}

export function post(body: unknown): RequestInit {
  return {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
}

export function parseStream(text: string): StreamedTurn {
  const events = text
    .split("\n\n")
    .filter((block) => block !== "")
    .map((block) =>
      JSON.parse(
        block
          .split("\n")
          .find((line) => line.startsWith("data: "))!
          .slice(6),
      ),
    );
  return {
    events,
    text: events.flatMap((event) => (event.type === "text" ? [event.delta] : [])).join(""),
  };
}

/** The settings that make an emulated server the model. */
export function emulatedModel(
  baseUrl: string,
  model: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    agents: { defaults: { model: "emulated/emulated" } },
    models: {
      providers: {
        emulated: { baseUrl, models: [{ id: "emulated", contextWindow: 100_000, ...model }] },
      },
    },
  };
}
