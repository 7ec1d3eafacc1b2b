// Makes a disk of few megabytes, where a test may.
import { spawnSync } from "node:child_process";
import { chownSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unprivileged } from "./binaries.ts";

export interface SmallDisk {
  /** Its own folder. */
  readonly folder: string;
  /** Takes all the room that is left, or gives it back. */
  fill(): void;
  empty(): void;
  remove(): void;
}

/** Null: it may not be made here. */
export function makeSmallDisk(megabytes: number): SmallDisk | null {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return null;
  const folder = join(tmpdir(), `clew-disk-${process.pid}-${Date.now()}`);
  mkdirSync(folder, { mode: 0o755 });
  const made = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder]);
  if (made.status !== 0) {
    rmSync(folder, { recursive: true });
    return null;
  }
  const own = join(folder, "own");
  mkdirSync(own, { mode: 0o700 });
  const whom = unprivileged();
  if (whom !== undefined) chownSync(own, whom.uid, whom.gid);
  const ballast = join(folder, "ballast");
  return {
    folder: own,
    fill() {
      // What does not fit is refused, and what fits stays.
      for (const bytes of [2 ** 20, 4096])
        try {
          for (;;) writeFileSync(ballast, Buffer.alloc(bytes), { flag: "a" });
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
        }
    },
    empty: () => rmSync(ballast, { force: true }),
    remove() {
      spawnSync("umount", ["-l", folder]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
