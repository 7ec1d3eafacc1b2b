// The process in which a plugin is tried.
import { setTimeout } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { invalidPlugin, messageOf } from "../invalid.ts";
import { guardGateway } from "../isolate/guard-gateway.ts";
import type { TrialAnswer, TrialOrder } from "./trial.ts";
import { tryEntries } from "./try-plugin.ts";

/** How long what it left behind is waited for. */
const STRAYS_MS = 100;
const MOST_STRAYS = 5;

process.once("message", (order) => void answer(order as TrialOrder));

async function answer({ files, settings, deadlineMs, token }: TrialOrder): Promise<void> {
  const send = process.send!.bind(process);
  const exit = process.exit.bind(process);
  // The channel is ours.
  delete process.send;
  endLate(deadlineMs);
  const { id } = files.manifest;
  guardGateway(process.ppid, (asked, why) =>
    invalidPlugin(
      `Plugin "${id}": ${asked} ${why.replace("the gateway", "who installs it")}; it was refused.`,
    ),
  );
  const strays = new Set<string>();
  // No reason to refuse it, for the gateway outlives that too; but who installs it is told.
  process.on("uncaughtException", (error) =>
    strays.add(`an error was thrown where nothing could catch it: ${messageOf(error)}`),
  );
  process.on("unhandledRejection", (error) =>
    strays.add(`a promise failed unheard: ${messageOf(error)}`),
  );
  const result = await tryEntries(files, settings).then(
    async (trial): Promise<TrialAnswer["result"]> => {
      await setTimeout(STRAYS_MS);
      const warnings = [...trial.warnings, ...[...strays].slice(0, MOST_STRAYS)];
      return { ok: true, trial: { ...trial, warnings } };
    },
    (error: unknown): TrialAnswer["result"] => ({ ok: false, reason: messageOf(error) }),
  );
  send({ token, result } satisfies TrialAnswer, () => exit(0));
}

/** Also when whoever ordered it is gone, and nothing else in this process gets to run. */
function endLate(deadlineMs: number): void {
  const code = `setTimeout(() => process.kill(process.pid, "SIGKILL"), ${deadlineMs + 5000});`;
  new Worker(code, { eval: true }).unref();
}
