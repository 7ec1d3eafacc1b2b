// Runs `clew start`, the gateway behind its HTTP server.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { Environment } from "../config/environment.ts";
import { createGateway } from "../create-gateway.ts";
import { DEMO_KEY, demoState, wantsDemo } from "../demo/demo-place.ts";
import { type DemoInBackground, makeDemoInBackground } from "../demo/make-in-background.ts";
import { checkHarnesses } from "../doctor/check-harness.ts";
import { mistakenDoorSettings } from "../door/upstream/mistaken-settings.ts";
import { journalFile } from "../forget/journal-file.ts";
import { scratchRecordFile } from "../forget/scratch-place.ts";
import { type ClaimedHome, claimHome } from "../home/claim.ts";
import { loadPage } from "../http/page.ts";
import { type RunningServer, startServer } from "../http/server.ts";
import type { GatewayLog } from "../log/log.ts";
import { holdOldSpace } from "../old-space.ts";
import { watchProcess } from "../plugins/contain/watch-process.ts";
import { watchStart } from "../plugins/contain/watch-start.ts";
import { inSafeMode } from "../plugins/load/record.ts";
import { internalEvent } from "../plugins/offer/hook-context.ts";
import { startPlugins } from "../plugins/start.ts";
import { describeThrown, isOwnStack, type StrayErrors, stackOf } from "../plugins/stray-errors.ts";
import { isToldAgain, TOLD_ONE_BY_ONE } from "../plugins/strays.ts";
import { clearLeft } from "../sessions/clear-left.ts";
import { openStorage } from "../storage/open-storage.ts";
import type { Storage } from "../storage/storage.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import { outliveReaders } from "../terminal/lost-reader.ts";
import type { Output } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { errorText } from "../text/error-text.ts";
import { VERSION } from "../version.ts";
import { letYoungSpaceGrow } from "../young-space.ts";
import { legacyInstead } from "./missing-engine.ts";
import { ownCommand } from "./own-command.ts";
import { type Overrides, rereader, type Setup, setUp } from "./setup.ts";
import { type Ending, listenForStop, type Stop } from "./stop.ts";

/**
 * Time running replies get to finish, ms; after it they are cancelled and what had arrived is kept.
 * With what closing may take, and the second of grace of `main.ts`, a gateway ends within ten.
 */
const GRACE_MS = 1500;

const STREAMS = { stdout: "the standard output", stderr: "the standard error" } as const;

export interface StartOptions extends Overrides {
  /** Where it runs is told as one line of JSON. */
  json?: boolean;
}

export async function start(options: StartOptions, shell: Shell): Promise<number> {
  const setup = await setUp(shell, options, { showProblems: true });
  const claim = await claimHome(setup.environment.home);
  if (claim.wasCopied)
    setup.output.note(
      "clew: This home was copied while its gateway ran; the copied gateway.json and gateway.lock mean the original, and are replaced.",
    );
  return endForgetting(setup)
    .then(() => serve(setup, claim, options))
    .finally(() => claim.release());
}

/** Before any session is opened: what was to be forgotten is nowhere shown again. */
async function endForgetting({ environment, log, output }: Setup): Promise<void> {
  const { home } = environment;
  const isInDatabase = existsSync(scratchRecordFile(home));
  if (!isInDatabase && !existsSync(journalFile(home))) return;
  const tell = (text: string) => {
    log.info(text);
    output.note(`clew: ${text}`);
  };
  try {
    if (isInDatabase) {
      const { resumeAll, withDatabase } = await import("./lossless/forgetting-database.ts");
      const asked = { environment, output };
      await withDatabase(asked, { isChange: true }, (database) => resumeAll(home, database));
    } else await (await import("../forget/run.ts")).resumeForgetting(home);
    tell("what was being forgotten when a process ended is forgotten now");
  } catch (error) {
    // They go on with it, whether or not this one is started.
    if (!ContextEngineError.is(error, "GATEWAY_RUNNING")) throw error;
    tell(`something is still being forgotten: ${error.message}`);
  }
}

/** The first turn would say it, too; nobody waits for this. */
async function tellOfPrograms({
  environment,
  loaded,
  log,
}: Pick<Setup, "environment" | "loaded" | "log">): Promise<void> {
  try {
    for (const { level, text } of await checkHarnesses(environment, loaded))
      if (level === "failure") log.warn(text);
  } catch (error) {
    log.info(`programs that run turns were not looked at: ${errorText(error)}`);
  }
}

/** A session that is opened does it, too; of those that nobody opens nobody else would. */
async function clearAway(
  { records }: Pick<Storage, "records">,
  { log, signal }: Pick<Setup, "log"> & { signal: AbortSignal },
): Promise<void> {
  try {
    const count = await clearLeft(records, signal);
    if (count > 0)
      log.info(`files that killed processes left beside sessions, cleared away: ${count}`);
  } catch (error) {
    log.warn(`what killed processes left beside sessions stays: ${errorText(error)}`);
  }
}

async function serve(
  { environment, loaded, log, output, strayErrors }: Setup,
  { identity, announce }: ClaimedHome,
  options: StartOptions,
): Promise<number> {
  const { home } = environment;
  const { port, watchdogSeconds: seconds } = loaded.config.gateway;
  const watchdog = watchProcess({ home, seconds, log });
  const watchedStart = watchStart(home);
  if (watchedStart.told !== undefined) log.warn(watchedStart.told);
  const storage = await openStorage({
    ...{ environment, config: loaded.config, log },
    address: `http://127.0.0.1:${port}`,
  });
  const plugins = await startPlugins({ environment, loaded, log });
  const reread = rereader(environment, options);
  const onMissingEngine = legacyInstead(options, log);
  const gateway = createGateway({
    ...{ environment, loaded, log, plugins, reread, onMissingEngine, storage },
  });
  const page = loadPage(pageFolder());
  outliveFullFiles();
  // Before anybody is told that it runs: whoever learns it may stop it at once.
  const stop = listenForStop();
  stopUnheard(storage, stop);
  let server: RunningServer | undefined;
  let demo: DemoInBackground | undefined;
  let end: Ending = { reason: "it could not start", exitCode: EXIT.failed };
  const ended = new AbortController();
  try {
    const waited = await gateway.waiting.takeIn();
    server = await startServer({
      ...{ gateway, log, page, version: VERSION, identity, port, environment },
      onStop: (graceMs) => stop.now({ reason: "it was told to", exitCode: EXIT.done, graceMs }),
    });
    surviveErrors(strayErrors, { log, server, stop });
    outliveReaders((stream) => log.info(`nobody reads ${STREAMS[stream]} of the gateway any more`));
    announce(server.port);
    watchdog.asksAt(server.port);
    const model = loaded.config.agents.defaults.model.primary;
    const named = loaded.config.plugins.slots?.contextEngine ?? "legacy";
    const isThere = gateway.host.engineIds().includes(named);
    const engine = isThere ? named : `legacy in place of ${named}, which is not there`;
    plugins.startServices();
    const started = plugins.hooks
      .emit("gateway_start", { port: server.port })
      .then(() => plugins.hooks.emit("gateway:startup", internalEvent("gateway", "startup")));
    await Promise.race([started, stop.ending]);
    watchedStart.isUp();
    gateway.mcp.start();
    // What comes now takes sessions.
    await storage.cluster?.settle();
    await gateway.scheduler.start();
    await gateway.waiting.resume();
    if (waited > 0) log.info(`messages that waited when the gateway ended begin now: ${waited}`);
    log.info("gateway started", { url: server.url, model, engine });
    // It is a session in files.
    const mayHaveDemo = storage.cluster === undefined;
    const makesDemo =
      mayHaveDemo && environment.variable("CLEW_DEMO") !== "off" && (await wantsDemo(home));
    if (makesDemo) demo = makeDemoInBackground(log);
    void tellOfPrograms({ environment, loaded, log });
    for (const { text } of mistakenDoorSettings(loaded.config, environment)) log.warn(text);
    void clearAway(storage, { log, signal: ended.signal });
    const about = makesDemo
      ? "will be there in some seconds"
      : mayHaveDemo
        ? await whetherDemo(home)
        : null;
    const asleep = inSafeMode(plugins.records());
    if (options.json)
      output.line(JSON.stringify({ url: server.url, model, engine, home, safeMode: asleep }));
    else {
      greet(output, server, { model, engine, environment, demo: about });
      for (const { plugin, reason } of asleep)
        output.line(`Safe mode: plugin "${plugin}": ${reason}.`);
    }
    letYoungSpaceGrow();
    holdOldSpace();
    end = await stop.ending;
    output.note(`clew: stopping (${end.reason})`);
    return end.exitCode;
  } finally {
    ended.abort();
    demo?.stop();
    watchdog.asksAt(null);
    watchdog.isEnding();
    await gateway.close({ graceMs: end.graceMs ?? GRACE_MS });
    await server?.close();
    // The watchdog goes on: what plugins left behind may keep the process from its end.
    watchedStart.isEnding();
    log.info("gateway stopped", { reason: end.reason });
    log.close();
  }
}

/**
 * What is stored is safe, as late steps are refused. But whoever goes on asks models and runs tools
 * for sessions that others may have by now.
 */
function stopUnheard({ cluster }: Storage, stop: Stop): void {
  const reason = "the database did not hear of it for too long, and others may have its sessions";
  const end = () => stop.now({ reason, exitCode: EXIT.failed, graceMs: 0 });
  cluster?.alive.addEventListener("abort", end, { once: true });
}

/**
 * A file that may grow no further is told as an error. Whoever else listens for this signal for a
 * moment would make it deadly again.
 */
function outliveFullFiles(): void {
  if (process.platform !== "win32") process.on("SIGXFSZ", () => {});
}

/** Beside the built command; from the sources, where the last build left it. */
function pageFolder(): string {
  const built = join(import.meta.dirname, "web");
  return existsSync(built) ? built : join(import.meta.dirname, "../../dist/web");
}

function greet(
  output: Output,
  { url, link, needsToken }: RunningServer,
  given: Record<"model" | "engine", string> & { environment: Environment; demo: string | null },
): void {
  const { model, engine, environment, demo } = given;
  const { home } = environment;
  const command = ownCommand(import.meta.dirname, environment);
  const token = needsToken ? " -H 'authorization: Bearer TOKEN'" : "";
  const curl = `curl -N ${url}/api/sessions/main/messages -H 'content-type: application/json'${token} -d '{"text":"What is my cat called?"}'`;
  output.line(`Clew is running: ${url}/   (model ${model}, engine ${engine}, files in ${home})`);
  output.line("");
  output.line("Three things to try:");
  output.line(
    `  1. Open ${link} (the page, in which you may allow tools), say "My cat is called Minka." and watch what the model is shown.`,
  );
  output.line(`  2. Ask from another terminal: ${curl}`);
  output.line(
    `  3. Run a recorded session through the engine: ${command} replay demo --context-window 32000`,
  );
  output.line("");
  if (demo !== null)
    output.line(
      `A demo session, ${DEMO_KEY}, ${demo}: no model was called for it, and nobody said it. Remove it with: ${command} demo remove`,
    );
  output.line("Ctrl-C stops it.");
}

/** Null: there is none. */
const whetherDemo = async (home: string) =>
  (await demoState(home)) === "made" ? "is there" : null;

/**
 * An error of Clew's own that nobody caught costs what it interrupted, and no more: every session
 * has its files, and they are whole. A gateway that nobody can reach any more is of no use.
 */
function surviveErrors(
  strayErrors: StrayErrors | undefined,
  { log, server, stop }: { log: GatewayLog; server: RunningServer; stop: Stop },
): void {
  let count = 0;
  strayErrors?.onHostError((error, times) => {
    count += times;
    if (times > 1 || isToldAgain(count)) {
      const stack = stackOf(error);
      const total = count > TOLD_ONE_BY_ONE ? ` (${count} so far)` : "";
      const told = `that nothing handled: ${describeThrown(error)}`;
      log.error(
        !isOwnStack(stack)
          ? `an error of unknown origin ${told}; it may be a plugin's${total}`
          : `an error of the gateway itself ${told}; please report it${total}`,
        { stack },
      );
    }
    if (!server.isListening())
      stop.now({ reason: "its server no longer listens", exitCode: EXIT.failed });
  });
}
