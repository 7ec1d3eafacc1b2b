// Measures a process's event loop from inside, for whoever started it with a channel.
import { createHistogram } from "node:perf_hooks";

/** What the loop did since it was asked last. */
export interface LoopReading {
  /** ms that a timer of 1 ms came too late, at worst. */
  longestMs: number;
  /** The same in processor time of the loop's thread, to which no busy neighbour adds. */
  longestCpuMs: number;
  /** ms that one timer in a hundred exceeded. */
  p99Ms: number;
}

const TICK_MS = 1;
const late = createHistogram({ lowest: 1 });
let longestMs = 0;
let longestCpuMs = 0;
let last = performance.now();
let lastCpu = cpuMs();

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function tick(): void {
  const [now, cpu] = [performance.now(), cpuMs()];
  const lateMs = Math.max(0, now - last - TICK_MS);
  late.record(Math.max(1, Math.round(lateMs * 1000)));
  longestMs = Math.max(longestMs, lateMs);
  longestCpuMs = Math.max(longestCpuMs, cpu - lastCpu);
  last = now;
  lastCpu = cpu;
}

if (process.send !== undefined) {
  setInterval(tick, TICK_MS).unref();
  process.on("message", (asked) => {
    if (asked !== "loop") return;
    const reading: LoopReading = { longestMs, longestCpuMs, p99Ms: late.percentile(99) / 1000 };
    process.send?.(reading);
    late.reset();
    longestMs = 0;
    longestCpuMs = 0;
  });
  // Listening must not keep the process alive.
  process.channel?.unref();
}
