// The process in which sessions are played beside a gateway.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { readEnvironment } from "../config/environment.ts";
import { silentLog } from "../log/silent.ts";
import { dieWithParent } from "../plugins/isolate/die-with-parent.ts";
import type { LabOrder, LabSettings, LabTold, PlayOrder } from "./lab-order.ts";
import { createShadowPlayer, type ShadowPlayer } from "./shadow-player.ts";
import { runWhatIf } from "./what-if.ts";

// Whoever started it ends it, also where a terminal or a supervisor tells all processes at once.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
dieWithParent(process.ppid);

const tell = (told: LabTold) => void process.send?.(told);

process.on("message", (order: LabOrder) => {
  void work(order).catch((error: unknown) => {
    const code = ContextEngineError.is(error) ? error.code : "INTERNAL";
    const message = error instanceof Error ? error.message : String(error);
    tell({ type: "error", error: { code, message } });
  });
});

let player: ShadowPlayer | undefined;

async function work(order: LabOrder): Promise<void> {
  if (order.kind === "what-if") return playOnce(order);
  if (order.kind === "settings") {
    player = createShadowPlayer({ ...placeOf(order), records: order.records, log: silentLog });
    return;
  }
  await player!.play(order.job, () => tell({ type: "turn" }));
  tell({ type: "played" });
}

const placeOf = ({ home, configFile, loaded }: LabSettings) => ({
  environment: { ...readEnvironment(), home, configFile },
  loaded,
});

async function playOnce({ session, ask, place, ...settings }: PlayOrder): Promise<void> {
  const { signal } = new AbortController();
  const onProgress = (progress: { turn: number; turns: number; calls: number }) =>
    tell({ type: "progress", ...progress });
  const whatIf = await runWhatIf({
    ...{ ...placeOf(settings), log: silentLog, session, ask, place, onProgress, signal },
  });
  tell({ type: "done", whatIf });
}
