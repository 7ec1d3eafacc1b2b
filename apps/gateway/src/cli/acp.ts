// Runs `clew acp`, by which an editor talks to an agent over its standard input and output.
import { Readable } from "node:stream";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { agentIds, defaultAgentId } from "../config/agent.ts";
import { loadConfig } from "../config/load.ts";
import { createGateway } from "../create-gateway.ts";
import { describeMissing, findOwnGateway } from "../gateway-client.ts";
import { prepareHome } from "../home/prepare-home.ts";
import { startPlugins } from "../plugins/start.ts";
import { describeThrown } from "../plugins/stray-errors.ts";
import { describeOtherSettings, otherSettings } from "../running-settings.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import { outliveReaders } from "../terminal/lost-reader.ts";
import type { Output } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { legacyInstead } from "./missing-engine.ts";
import { setUp } from "./setup.ts";
import { listenForStop } from "./stop.ts";

export interface AcpOptions {
  /** Whose sessions the editor begins. Absent: the default agent. */
  agent?: string;
}

export async function acp({ agent }: AcpOptions, shell: Shell): Promise<number> {
  const { environment, output } = shell;
  const { config } = await loadConfig(environment.configFile);
  const ids = agentIds(config);
  if (agent !== undefined && !ids.includes(agent))
    throw new ContextEngineError(
      "REQUEST_INVALID",
      `There is no agent "${agent}"; there is: ${ids.join(", ")}.`,
    );
  const printed = guardStdout();
  const { ndJsonStream } = await import("@agentclientprotocol/sdk");
  const { runBridge } = await import("../acp/bridge.ts");
  const { openHere, openThere } = await import("../acp/backend.ts");
  const ended = new AbortController();
  const end = () => ended.abort();
  const stop = listenForStop();
  void stop.ending.then(end);
  outliveReaders((stream) => {
    if (stream === "stdout") end();
  });
  let own: OwnHost | undefined;
  try {
    await runBridge({
      editor: ndJsonStream(printed, untilAborted(ended.signal)),
      note: (text) => output.note(`clew: ${text}`),
      async open() {
        const { port } = config.gateway;
        const found = await findOwnGateway({ home: environment.home, port });
        if (found.kind === "running") {
          const others = describeOtherSettings(otherSettings(found.gateway, config));
          if (others !== null) output.note(`warning: ${others}`);
          return openThere(found.gateway, agent ?? null);
        }
        if (found.kind !== "none" && found.kind !== "stranger")
          output.note(`warning: ${describeMissing(found)}; this editor goes on alone`);
        own ??= await openHost(shell);
        const { gateway, log } = own;
        const agentId = agent ?? defaultAgentId(gateway.host.config);
        return openHere({ gateway, log, agentId });
      },
    });
  } finally {
    await own?.close();
  }
  return EXIT.done;
}

type OwnHost = Awaited<ReturnType<typeof openHost>>;

/** Sessions are held here, as no gateway runs. */
async function openHost({ environment: given, output, strayErrors }: Shell) {
  const { environment, loaded, log } = await setUp(
    { environment: given, output },
    {},
    { showProblems: true },
  );
  await prepareHome(environment.home);
  strayErrors?.onHostError((error) =>
    log.error(`an error of Clew itself that nothing handled: ${describeThrown(error)}`),
  );
  const plugins = await startPlugins({ environment, loaded, log });
  const onMissingEngine = legacyInstead({}, log);
  const gateway = createGateway({ environment, loaded, log, plugins, onMissingEngine });
  plugins.startServices();
  gateway.mcp.start();
  return {
    ...{ gateway, log },
    async close() {
      await gateway.close();
      log.close();
    },
  };
}

/**
 * What an editor reads is written by nobody else: what a library or a plugin prints goes to the
 * error output from now on.
 */
function guardStdout(): WritableStream<Uint8Array> {
  const stdout = process.stdout;
  const stderr = process.stderr;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr) as Output["write"] as typeof stdout.write;
  return new WritableStream<Uint8Array>({
    write: (bytes) =>
      new Promise((resolve, reject) => {
        write(bytes, (error) => (error == null ? resolve() : reject(error)));
      }),
  });
}

/** The standard input; it ends also when the command is told to end. */
function untilAborted(signal: AbortSignal): ReadableStream<Uint8Array> {
  const input = process.stdin;
  signal.addEventListener("abort", () => input.destroy(), { once: true });
  const bytes = Readable.toWeb(input) as ReadableStream<Uint8Array>;
  const reader = bytes.getReader();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await reader.read().catch(() => ({ value: undefined, done: true }));
      if (done || value === undefined) controller.close();
      else controller.enqueue(value);
    },
  });
}
