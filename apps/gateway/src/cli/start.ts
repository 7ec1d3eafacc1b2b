// Runs `clew start`, the gateway behind its HTTP server.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createGateway } from "../gateway.ts";
import { type ClaimedHome, claimHome } from "../home/claim.ts";
import { loadPage } from "../http/page.ts";
import { type RunningServer, startServer } from "../http/server.ts";
import { startPlugins } from "../plugins/start.ts";
import { survivePluginRejections } from "../plugins/stray-rejections.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import type { Output } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { VERSION } from "../version.ts";
import { ownCommand } from "./own-command.ts";
import { type Overrides, rereader, type Setup, setUp } from "./setup.ts";

/**
 * Time running replies get to finish, ms; after it they are cancelled and what had arrived is kept.
 */
const GRACE_MS = 1500;

export async function start(overrides: Overrides, shell: Shell): Promise<number> {
  const setup = await setUp(shell, overrides, { showProblems: true });
  const claim = await claimHome(setup.environment.home);
  if (claim.wasCopied)
    setup.output.note(
      "clew: This home was copied while its gateway ran; the copied gateway.json and gateway.lock mean the original, and are replaced.",
    );
  return serve(setup, claim, overrides).finally(() => claim.release());
}

async function serve(
  { environment, loaded, log, output }: Setup,
  { identity, announce }: ClaimedHome,
  overrides: Overrides,
): Promise<number> {
  survivePluginRejections(log);
  const plugins = await startPlugins({ environment, loaded, log });
  const reread = rereader(environment, overrides);
  const gateway = createGateway({ environment, loaded, log, plugins, reread });
  const page = loadPage(pageFolder());
  const { port } = loaded.config.gateway;
  let server: RunningServer | undefined;
  let reason = "it could not start";
  try {
    server = await startServer({ gateway, log, page, version: VERSION, identity, port });
    // Before anybody is told that it runs: whoever learns it may stop it at once.
    const stopped = untilStopped();
    announce(server.port);
    const model = loaded.config.agents.defaults.model.primary;
    const engine = loaded.config.plugins.slots?.contextEngine ?? "legacy";
    await plugins.hooks.emit("gateway_start", { port: server.port });
    log.info("gateway started", { url: server.url, model, engine });
    greet(output, server, { model, engine, home: environment.home });
    reason = await stopped;
    output.note(`clew: stopping (${reason})`);
    return EXIT.done;
  } finally {
    await gateway.close({ graceMs: GRACE_MS });
    await server?.close();
    log.info("gateway stopped", { reason });
    log.close();
  }
}

/** Beside the built command; from the sources, where the last build left it. */
function pageFolder(): string {
  const built = join(import.meta.dirname, "web");
  return existsSync(built) ? built : join(import.meta.dirname, "../../dist/web");
}

function greet(
  output: Output,
  { url }: RunningServer,
  { model, engine, home }: { model: string; engine: string; home: string },
): void {
  const curl = `curl -N ${url}/api/sessions/main/messages -H 'content-type: application/json' -d '{"text":"What is my cat called?"}'`;
  output.line(`Clew is running: ${url}/   (model ${model}, engine ${engine}, files in ${home})`);
  output.line("");
  output.line("Three things to try:");
  output.line(
    `  1. Open ${url}/, say "My cat is called Minka." and watch what the model is shown.`,
  );
  output.line(`  2. Ask from another terminal: ${curl}`);
  output.line(
    `  3. Run a recorded session through the engine: ${ownCommand(import.meta.dirname)} replay FILE.jsonl --context-window 32000`,
  );
  output.line("");
  output.line("Ctrl-C stops it.");
}

/** Resolves with the first reason to stop; a second signal ends the process at once. */
function untilStopped(): Promise<string> {
  return new Promise((resolve) => {
    let stopping = false;
    const stop = (reason: string) => {
      stopping = true;
      resolve(reason);
    };
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.on(signal, () => {
        if (stopping) process.exit(EXIT.cancelled);
        stop(signal);
      });
    process.on("disconnect", () => stop("its parent ended"));
  });
}
