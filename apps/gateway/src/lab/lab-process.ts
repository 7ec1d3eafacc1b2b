// The process in which sessions are played beside a gateway.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { readEnvironment } from "../config/environment.ts";
import { dieWithParent } from "../plugins/isolate/die-with-parent.ts";
import type { LabOrder, LabTold } from "./lab-order.ts";
import { runWhatIf } from "./what-if.ts";

// Whoever started it ends it, also where a terminal or a supervisor tells all processes at once.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
dieWithParent(process.ppid);

const SILENT = { info: () => {}, warn: () => {}, error: () => {} };

const tell = (told: LabTold) => void process.send?.(told);

process.on("message", (order: LabOrder) => {
  void work(order).catch((error: unknown) => {
    const code = ContextEngineError.is(error) ? error.code : "INTERNAL";
    const message = error instanceof Error ? error.message : String(error);
    tell({ type: "error", error: { code, message } });
  });
});

async function work({ home, configFile, loaded, session, ask, place }: LabOrder): Promise<void> {
  const environment = { ...readEnvironment(), home, configFile };
  const { signal } = new AbortController();
  const onProgress = (progress: { turn: number; turns: number; calls: number }) =>
    tell({ type: "progress", ...progress });
  const whatIf = await runWhatIf({
    ...{ environment, loaded, log: SILENT, session, ask, place, onProgress, signal },
  });
  tell({ type: "done", whatIf });
}
