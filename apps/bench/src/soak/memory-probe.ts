// Tells what of a process's memory is in use, for whoever started it with a channel.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Without garbage: it is collected first. */
export interface MemoryReading {
  /** Objects, and what they hold outside of the heap. */
  liveMB: number;
}

if (process.send !== undefined) {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  process.on("message", (asked) => {
    if (asked !== "memory") return;
    collect();
    const { heapUsed, external } = process.memoryUsage();
    process.send?.({ liveMB: (heapUsed + external) / 1e6 } satisfies MemoryReading);
  });
  // Listening must not keep the process alive.
  process.channel?.unref();
}
