// The process in which an engine is checked and that tells its parent of each result.
import { syncBuiltinESMExports } from "node:module";
import type { ContextEngine } from "../../contract/engine.ts";
import type { EngineMaker } from "../case-context.ts";
import { type CaseResult, casesOf, replaySession, startJudging } from "../conformance.ts";
import { loadEngines, messageOf, NoEngine } from "./load-engines.ts";
import { tellPulse } from "./pulse.ts";
import type { Job, Told } from "./run-apart.ts";

export function runAsChild(): void {
  tellPulse();
  guardParent();
  process.once("message", (job: Job) => {
    run(job).then(
      () => process.exit(0),
      (error: unknown) => {
        const reason =
          error instanceof NoEngine ? error.message : `Unexpected: ${messageOf(error)}`;
        tell({ kind: "unusable", reason }).finally(() => process.exit(0));
      },
    );
  });
}

const send = process.send?.bind(process);

const tell = (told: Told) =>
  new Promise<void>((resolve) => {
    send!(told, () => resolve());
  });

/** An engine that ends who checks it would else be one that failed nowhere. */
function guardParent(): void {
  const parent = process.ppid;
  const members = process as unknown as Record<string, (...given: unknown[]) => unknown>;
  for (const name of ["kill", "_kill"]) {
    const real = members[name];
    if (real === undefined) continue;
    members[name] = (pid, signal, ...more) => {
      const number = Math.trunc(Math.abs(Number(pid)));
      if ((number !== parent && number !== 1) || signal === 0)
        return Reflect.apply(real, process, [pid, signal, ...more]);
      const reason = `It sends a signal to the process that checks it: process.kill(${number}).`;
      void tell({ kind: "unruly", reason });
      throw new Error(reason);
    };
  }
  syncBuiltinESMExports();
}

async function run({ cases, replay, ...job }: Job): Promise<void> {
  const { engine, folder, engineId, settings, ...options } = job;
  const found = await loadEngines(engine, folder, settings);
  const chosen = engineId === undefined ? found[0]! : found.find(({ id }) => id === engineId);
  const ids = found.map(({ id }) => id).join(", ");
  if (chosen === undefined)
    throw new NoEngine(`${engine} registers no engine "${engineId}"; it registers ${ids}.`);
  if (engineId === undefined && found.length > 1)
    throw new NoEngine(`${engine} registers ${ids}: name one of them by --engine.`);
  let isKnown = false;
  const create: EngineMaker = async ({ agentDir, withoutFolder }) => {
    const made = await (withoutFolder
      ? chosen.factory()
      : chosen.factory({ config: {}, agentDir, workspaceDir: agentDir }));
    if (!isKnown) await tell({ kind: "engine", engine: nameOf(made) });
    isKnown = true;
    return made;
  };
  if (replay !== undefined) {
    const replayed = await replaySession(create, replay, options);
    const result: CaseResult = {
      ...{ id: cases[0]!, group: "sessions", title: "a session that is run again" },
      ...replayed,
    };
    return tell({ kind: "result", result });
  }
  const judge = startJudging(create, { ...options, ownsProcess: true });
  for (const one of casesOf({ only: cases })) {
    await tell({ kind: "begins", id: one.id });
    await tell({ kind: "result", result: await judge(one) });
  }
}

function nameOf({ info }: ContextEngine): { id: string; name: string; version?: string } | null {
  if (typeof info?.id !== "string" || typeof info.name !== "string") return null;
  const { id, name, version } = info;
  return { id, name, ...(typeof version === "string" && { version }) };
}
