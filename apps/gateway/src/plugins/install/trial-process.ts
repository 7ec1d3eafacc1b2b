// The process in which a plugin is tried.
import { Worker } from "node:worker_threads";
import { invalidPlugin, messageOf } from "../invalid.ts";
import { guardGateway } from "../isolate/guard-gateway.ts";
import type { TrialAnswer, TrialOrder } from "./trial.ts";
import { tryEntries } from "./try-plugin.ts";

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
  // What it leaves behind nobody catches is no reason to refuse it: the gateway outlives that too.
  process.on("uncaughtException", () => {});
  process.on("unhandledRejection", () => {});
  const result = await tryEntries(files, settings).then(
    (trial): TrialAnswer["result"] => ({ ok: true, trial }),
    (error: unknown): TrialAnswer["result"] => ({ ok: false, reason: messageOf(error) }),
  );
  send({ token, result } satisfies TrialAnswer, () => exit(0));
}

/** Also when whoever ordered it is gone, and nothing else in this process gets to run. */
function endLate(deadlineMs: number): void {
  const code = `setTimeout(() => process.kill(process.pid, "SIGKILL"), ${deadlineMs + 5000});`;
  new Worker(code, { eval: true }).unref();
}
