// Runs `clew sessions compact` and `clew sessions undo-compaction`.
import type { CommandAnswer } from "../commands/answer.ts";
import { type CompactRequest, compactLine } from "../commands/compact.ts";
import { defaultAgentId } from "../config/agent.ts";
import { loadConfig } from "../config/load.ts";
import { createGateway } from "../create-gateway.ts";
import { startPlugins } from "../plugins/start.ts";
import { requireSessionName } from "../sessions/name-errors.ts";
import { printable } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { interruptible } from "./interruptible.ts";
import { runningGateway } from "./running-gateway.ts";
import { commandThrough } from "./say/talk-through-gateway.ts";
import { setUp } from "./setup.ts";
import { storedSessions } from "./stored-sessions.ts";
import { waitForMemory } from "./wait-for-rest.ts";

export interface CompactOptions {
  dryRun?: boolean;
  focus?: string;
  json?: boolean;
}

type Answer = Omit<CommandAnswer, "command">;

export const compactSessionByName = (
  name: string,
  { dryRun = false, focus, json }: CompactOptions,
  shell: Shell,
): Promise<number> => run(name, { kind: dryRun ? "preview" : "compact", focus }, json, shell);

export const undoCompactionByName = (
  name: string,
  { dryRun = false, json }: Pick<CompactOptions, "dryRun" | "json">,
  shell: Shell,
): Promise<number> => run(name, { kind: dryRun ? "undo-preview" : "undo" }, json, shell);

/**
 * Exit code 1 when it was not done, as while a reply is written. Throws SESSION_NOT_FOUND, and
 * SESSION_LOCKED while another process than the gateway has it.
 */
async function run(
  name: string,
  request: CompactRequest,
  json = false,
  shell: Shell,
): Promise<number> {
  const { environment, output } = shell;
  const { config } = await loadConfig(environment.configFile);
  const { key } = requireSessionName(name, defaultAgentId(config));
  const { sessions: store } = await storedSessions(environment);
  if ((await store.find(key)) === null) throw await store.notFound(name);
  const gateway = await runningGateway(environment);
  const tell = (answer: Answer) => {
    if (json) output.json(answer);
    else output.line(printable(answer.text));
  };
  const answer =
    gateway === undefined
      ? await compactHere(key, request, { shell, json, tell })
      : await interruptible(output, ({ signal }) =>
          commandThrough(
            { port: gateway, session: key, home: environment.home },
            compactLine(request),
            signal,
          ),
        );
  if (gateway !== undefined) tell(answer);
  return answer.ok ? 0 : 1;
}

/** Told before what is to be remembered is stored. */
async function compactHere(
  key: string,
  request: CompactRequest,
  { shell, json, tell }: { shell: Shell; json: boolean; tell(answer: Answer): void },
): Promise<Answer> {
  const { environment, loaded, log, output } = await setUp(shell, {}, { showProblems: !json });
  const plugins = await startPlugins({ environment, loaded, log });
  const gateway = createGateway({ environment, loaded, log, plugins });
  const leaving = new AbortController();
  const onSignal = () => {
    if (!gateway.cancel(key)) leaving.abort();
  };
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  try {
    const answer = await gateway.compact(key, request);
    tell(answer);
    await waitForMemory(gateway, output, leaving.signal);
    return answer;
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
    await gateway.close();
    log.close();
  }
}
