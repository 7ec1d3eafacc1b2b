// Tells what of a process's memory is in use, for whoever started it with a channel.
import { setImmediate } from "node:timers/promises";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Without garbage: it is collected first. */
export interface MemoryReading {
  /** Objects, and what they hold outside of the heap. */
  liveMB: number;
  /** What V8 compiled: for hours it goes on with functions that are seldom run. */
  codeMB: number;
}

/** What one collection finds unused lets go of more, outside of the heap too, in the next turn. */
const COLLECTIONS = 3;

if (process.send !== undefined) {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const tell = async () => {
    for (let done = 0; done < COLLECTIONS; done++) {
      collect();
      await setImmediate();
    }
    const { heapUsed, external } = process.memoryUsage();
    const code = bytesOfCode();
    process.send?.({
      ...{ liveMB: (heapUsed + external - code) / 1e6, codeMB: code / 1e6 },
    } satisfies MemoryReading);
  };
  process.on("message", (asked) => {
    if (asked === "memory") void tell();
  });
  // Listening must not keep the process alive.
  process.channel?.unref();
}

/** With what belongs to it: V8 keeps both apart from objects. */
function bytesOfCode(): number {
  return getHeapSpaceStatistics()
    .filter(({ space_name: name }) => /^(?:code|trusted)_/.test(name))
    .reduce((sum, { space_used_size: bytes }) => sum + bytes, 0);
}
