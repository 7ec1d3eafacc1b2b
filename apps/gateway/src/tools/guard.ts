// Ends a process group whose gateway is gone, however that ended.

/**
 * For the beginning of a script of /bin/sh that leads a group of its own: beside what it runs, a
 * guard reads from descriptor 3, a pipe whose other end the gateway holds. The system closes that
 * when the gateway ends, be it by SIGKILL, and then the guard ends the whole group.
 */
export const GUARD = `{ trap "" HUP INT TERM; read -r _ <&3; kill -KILL 0; } >/dev/null 2>&1 &
exec 3<&-`;
