// Ends a process group whose gateway is gone, however that ended.
import { spawn } from "node:child_process";

/**
 * For the beginning of a script of /bin/sh that leads a group of its own: beside what it runs, a
 * guard reads from descriptor 3, a pipe whose other end the gateway holds. The system closes that
 * when the gateway ends, be it by SIGKILL, and then the guard ends the whole group.
 */
export const GUARD = `{ trap "" HUP INT TERM; read -r _ <&3; kill -KILL 0; } >/dev/null 2>&1 &
exec 3<&-`;

/**
 * The same for a group that another program leads, by a process beside it; what it returns ends
 * that one, and has to be called once the group is over.
 */
export function guardGroup(leader: number): () => void {
  if (process.platform === "win32") return () => {};
  const script = 'trap "" HUP INT TERM; read -r _; kill -KILL "-$1"';
  const guard = spawn("/bin/sh", ["-c", script, "sh", String(leader)], {
    detached: true,
    env: {},
    stdio: ["pipe", "ignore", "ignore"],
  });
  // Without it a killed gateway leaves the group, which is no reason to do without the group.
  guard.on("error", () => {});
  guard.stdin.on("error", () => {});
  guard.unref();
  (guard.stdin as unknown as { unref?: () => void }).unref?.();
  return () => void guard.kill("SIGKILL");
}
