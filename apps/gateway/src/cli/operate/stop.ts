// Runs `clew stop`, which ends this home's gateway and waits until it is gone.
import { setTimeout as sleep } from "node:timers/promises";
import { describeMissing, type GatewayLookup } from "../../gateway-client.ts";
import { whoClaims } from "../../home/claim.ts";
import { processState } from "../../locks/process-identity.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import type { Shell } from "../../terminal/shell.ts";
import { lookUpRunning } from "./look-up.ts";

export interface StopOptions {
  /** Seconds. */
  grace?: number;
  force?: boolean;
  json?: boolean;
}

/** What a gateway may take to end beyond the time its replies are given, ms. */
const END_MS = 15_000;
/** After being ended by force. */
const FORCED_MS = 5000;
const LOOK_MS = 100;
const ASK_MS = 5000;

/** Exit code 0: none runs any more, or none did; 1: it does. */
export async function stop(
  { grace, force = false, json = false }: StopOptions,
  { environment, output }: Shell,
): Promise<number> {
  const { home } = environment;
  const lookup = await lookUpRunning(environment);
  const tell = (stopped: boolean, pid: number | null, text: string) => {
    if (json) output.json({ stopped, pid, text });
    else if (stopped) output.line(text);
    else output.note(`clew: ${text}`);
    return stopped ? EXIT.done : EXIT.failed;
  };
  if (lookup.kind === "none" || lookup.kind === "stranger")
    return tell(true, null, `Nothing to stop: ${describeMissing(lookup)}.`);
  if (lookup.kind === "elsewhere")
    return tell(false, lookup.pid, `Nothing was stopped: ${describeMissing(lookup)}.`);
  const pid = lookup.kind === "running" ? lookup.gateway.pid : lookup.pid;
  await askToStop(lookup, pid, grace);
  if (await isGone(home, pid, END_MS + (grace ?? 0) * 1000))
    return tell(true, pid, `The gateway (process ${pid}) has stopped.`);
  if (force) {
    kill(pid, "SIGKILL");
    if (await isGone(home, pid, FORCED_MS))
      return tell(true, pid, `The gateway (process ${pid}) did not stop and was ended.`);
  }
  const more = force ? "" : "; --force ends it";
  return tell(false, pid, `The gateway (process ${pid}) was told to stop and still runs${more}.`);
}

type Alive = Extract<GatewayLookup, { kind: "running" | "silent" | "unannounced" }>;

/** One that does not answer is told by a signal: its process was made sure of. */
async function askToStop(lookup: Alive, pid: number, grace: number | undefined): Promise<void> {
  const query = grace === undefined ? "" : `?grace=${grace}`;
  const answer =
    lookup.kind === "running"
      ? await lookup.gateway.request(`/api/stop${query}`, { method: "POST", timeoutMs: ASK_MS })
      : null;
  if (answer?.status !== 200) kill(pid, "SIGTERM");
}

async function isGone(home: string, pid: number, withinMs: number): Promise<boolean> {
  const until = performance.now() + withinMs;
  do {
    const { kind } = await processState(pid);
    if (kind === "gone" || (await whoClaims(home))?.pid !== pid) return true;
    await sleep(LOOK_MS);
  } while (performance.now() < until);
  return false;
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone.
  }
}
