// Runs `clew sessions compact` and `clew sessions undo-compaction`.
import type { CompactRequest } from "../commands/compact.ts";
import { createGateway } from "../gateway.ts";
import { startPlugins } from "../plugins/start.ts";
import { sessionNotFound } from "../sessions/name-errors.ts";
import { printable } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { setUp } from "./setup.ts";
import { waitForMemory } from "./wait-for-rest.ts";

export interface CompactOptions {
  dryRun?: boolean;
  focus?: string;
  json?: boolean;
}

export const compactSessionByName = (
  name: string,
  { dryRun = false, focus, json }: CompactOptions,
  shell: Shell,
): Promise<number> => run(name, { kind: dryRun ? "preview" : "compact", focus }, json, shell);

export const undoCompactionByName = (
  name: string,
  { json }: { json?: boolean },
  shell: Shell,
): Promise<number> => run(name, { kind: "undo" }, json, shell);

/**
 * Exit code 1 when it was not done. Throws SESSION_NOT_FOUND, and SESSION_LOCKED
 * while another process has it.
 */
async function run(
  name: string,
  request: CompactRequest,
  json = false,
  shell: Shell,
): Promise<number> {
  const { environment, loaded, log, output } = await setUp(shell, {}, { showProblems: !json });
  const plugins = await startPlugins({ environment, loaded, log });
  const gateway = createGateway({ environment, loaded, log, plugins });
  const leaving = new AbortController();
  const onSignal = () => {
    if (!gateway.cancel(name)) leaving.abort();
  };
  process.once("SIGINT", onSignal).once("SIGTERM", onSignal);
  try {
    if ((await gateway.store.find(gateway.canonicalKey(name))) === null)
      throw sessionNotFound(name);
    const answer = await gateway.compact(name, request);
    if (json) output.json(answer);
    else output.line(printable(answer.text));
    await waitForMemory(gateway, output, leaving.signal);
    return answer.ok ? 0 : 1;
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
    await gateway.close();
    log.close();
  }
}
