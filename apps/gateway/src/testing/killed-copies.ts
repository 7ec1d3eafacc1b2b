// Kills a command that copies at random moments, and begins it again until it ends.
import { setTimeout as after } from "node:timers/promises";
import { startClew } from "./command.ts";

export interface KilledCopies {
  /** Times that it was killed before it ended. */
  kills: number;
  /** What the last one said. */
  output: string;
  code: number | null;
  errors: string;
  /** How long the last one took, which nobody killed. */
  wholeMs: number;
}

/**
 * Each is killed somewhere in the time that one took which nobody killed, `random` being from 0 to
 * 1; after `kills` of them one is left alone.
 */
export async function killCopies(
  home: string,
  args: readonly string[],
  { kills, wholeMs, random }: { kills: number; wholeMs: number; random: () => number },
): Promise<KilledCopies> {
  for (let done = 0; ; ) {
    const child = startClew(home, args);
    const began = performance.now();
    child.process.stdin!.end();
    let isOver = false;
    const ended = child.exit.finally(() => {
      isOver = true;
    });
    if (done < kills) {
      // Before the first tenth nothing was opened yet.
      await Promise.race([after(wholeMs * (0.1 + 0.9 * random())), ended]);
      if (!isOver) {
        child.process.kill("SIGKILL");
        await ended;
        done += 1;
        continue;
      }
    }
    const code = await ended;
    const errors = child.errors().trim();
    const tookMs = performance.now() - began;
    return { kills: done, code, output: child.lines.join("\n"), errors, wholeMs: tookMs };
  }
}
