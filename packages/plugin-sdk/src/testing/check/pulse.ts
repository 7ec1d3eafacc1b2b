// Tells a process that is stuck from one that a busy machine lets do only little.
import { Worker } from "node:worker_threads";
import { idleAfter, isHopeless, MOST_BOUNDS } from "../patience.ts";

/** Where a checked process tells of its pulse. */
export const PULSE_FD = 4;
/** Ms. */
const PULSE_MS = 500;

/**
 * Told from a thread of its own, which goes on when this one cannot, and ends the process when
 * the one that started it is gone.
 */
export function tellPulse(): void {
  const shared = new SharedArrayBuffer(4);
  const pulse = new Int32Array(shared);
  setInterval(() => Atomics.add(pulse, 0, 1), PULSE_MS).unref();
  const program = `
    const { workerData } = require("node:worker_threads");
    const { writeSync } = require("node:fs");
    const pulse = new Int32Array(workerData);
    setInterval(() => {
      if (process.ppid !== ${process.ppid}) process.kill(process.pid, "SIGKILL");
      const { user, system } = process.cpuUsage();
      const told = JSON.stringify({ pulse: Atomics.load(pulse, 0), usedMs: (user + system) / 1000 });
      writeSync(${PULSE_FD}, told + "\\n");
    }, ${PULSE_MS});`;
  new Worker(program, { eval: true, workerData: shared }).unref();
}

/** What that thread tells. */
export interface Pulse {
  /** How often the loop of the process came round. */
  pulse: number;
  /** What the process used of a processor, ms. */
  usedMs: number;
}

/** Follows the pulse of one process by the time on the wall; `isStuck` answers for each telling. */
export class PulseWatch {
  readonly #boundMs: number;
  #last: Pulse | undefined;
  #beforeMs = 0;
  #since = 0;
  #bounds = 0;
  #idle = 0;

  constructor(boundMs: number) {
    this.#boundMs = boundMs;
  }

  isStuck(told: Pulse, now: number): boolean {
    if (told.pulse !== this.#last?.pulse) {
      this.#last = told;
      this.#idle = 0;
      this.#begin(told, now, 0);
      return false;
    }
    if (now - this.#since < this.#boundMs) return false;
    const bounds = this.#bounds + 1;
    const idle = idleAfter(this.#idle, told.usedMs - this.#beforeMs, this.#boundMs);
    this.#idle = idle;
    this.#begin(told, now, bounds);
    return isHopeless({ inAll: told.usedMs - this.#last.usedMs, idle, bounds }, this.#boundMs);
  }

  #begin({ usedMs }: Pulse, now: number, bounds: number): void {
    this.#beforeMs = usedMs;
    this.#since = now;
    this.#bounds = bounds;
  }
}

/** After so long without any telling nothing is waited for, ms. */
export const silenceMs = (boundMs: number): number => boundMs * MOST_BOUNDS;
