// Times calls and the stretches in which nobody else could run.

/** How long something took, ms. */
export interface Cost {
  wallMs: number;
  /** Of the whole process. */
  cpuMs: number;
}

/** Times `work`. */
export async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs: performance.now() - start, cpuMs: (user + system) / 1000 };
}

export const addCosts = (costs: readonly Cost[]): Cost => ({
  wallMs: costs.reduce((sum, { wallMs }) => sum + wallMs, 0),
  cpuMs: costs.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
});

/** The longest time for which `work` kept everybody else of the process waiting, at once. */
export async function longestStretch(work: () => Promise<unknown>): Promise<Cost> {
  const longest: Cost = { wallMs: 0, cpuMs: 0 };
  let [last, lastCpu] = [performance.now(), process.threadCpuUsage()];
  let isDone = false;
  const look = () => {
    const { user, system } = process.threadCpuUsage(lastCpu);
    longest.wallMs = Math.max(longest.wallMs, performance.now() - last);
    longest.cpuMs = Math.max(longest.cpuMs, (user + system) / 1000);
    [last, lastCpu] = [performance.now(), process.threadCpuUsage()];
  };
  const tick = () => {
    look();
    if (!isDone) setImmediate(tick);
  };
  setImmediate(tick);
  await work();
  look();
  isDone = true;
  return longest;
}
