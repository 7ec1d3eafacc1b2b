// When a change to plugins becomes effective: at the next start, or, if a gateway runs, after a reload.

const PROBE_MS = 1500;

export interface RunningGateway {
  url: string;
  pid: number | null;
}

/** The gateway on this machine, asked over loopback; null when none answers. */
export async function findGateway(port: number): Promise<RunningGateway | null> {
  const url = `http://127.0.0.1:${port}`;
  try {
    const answer = await fetch(`${url}/api/health`, { signal: AbortSignal.timeout(PROBE_MS) });
    const { pid, version } = (await answer.json()) as { pid?: unknown; version?: unknown };
    return answer.ok && typeof version === "string"
      ? { url, pid: typeof pid === "number" ? pid : null }
      : null;
  } catch {
    return null;
  }
}

/** Pure. */
export function effectNote(running: RunningGateway | null): string {
  return running === null
    ? "No gateway is running; it is effective from the next start."
    : `A gateway is running at ${running.url}: "clew plugins reload" makes it effective there, between two runs; a restart is not needed.`;
}
