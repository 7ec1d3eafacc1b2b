// Runs one background job per session at a time and keeps at most one waiting.
import { within } from "@clew/plugin-sdk/host";

/** Background work of one session, one job at a time. */
export interface MaintenanceLane {
  /** Settles when nothing is running or asked for any more; undefined = idle. */
  active: Promise<void> | undefined;
  /** The latest request made while a job ran. */
  next: ((signal: AbortSignal) => Promise<void>) | undefined;
  /** Ends the job that runs. */
  abort: AbortController;
}

export const idleLane = (): MaintenanceLane => ({
  active: undefined,
  next: undefined,
  abort: new AbortController(),
});

/**
 * Starts `job` now, or once after the running one; of several requests meanwhile only the latest
 * runs. Jobs must not throw.
 */
export function requestMaintenance(
  lane: MaintenanceLane,
  job: (signal: AbortSignal) => Promise<void>,
): void {
  lane.next = job;
  lane.active ??= runAll(lane).finally(() => {
    lane.active = undefined;
  });
}

async function runAll(lane: MaintenanceLane): Promise<void> {
  while (lane.next !== undefined && !lane.abort.signal.aborted) {
    const job = lane.next;
    lane.next = undefined;
    await job(lane.abort.signal);
  }
}

/**
 * Waits until the lane is idle, at most `boundMs`, then cancels what still runs. True when
 * it had finished by itself.
 */
export async function settleMaintenance(
  lane: MaintenanceLane,
  boundMs: number,
  signal?: AbortSignal,
): Promise<boolean> {
  const { active } = lane;
  if (active === undefined) return true;
  const finished = await within({ boundMs, signal, onTimeout: () => false }, () =>
    active.then(() => true),
  );
  if (finished) return true;
  lane.next = undefined;
  lane.abort.abort(new DOMException("cancelled during shutdown", "AbortError"));
  lane.abort = new AbortController();
  return false;
}
