// Ends the parts of a gateway one after the other, within a bound.
import type { LogPort } from "@clew/engine-core";
import { within } from "@clew/plugin-sdk/host";

export interface ClosingPart {
  /** For the log: "its sessions". */
  name: string;
  close(): Promise<void>;
  /** Time it is given beyond its share, ms. */
  extraMs?: number;
  /** What of it does not come to its end, for the log. Absent: nobody knows. */
  unfinished?: () => readonly string[];
}

/**
 * Each part gets an equal share of the time that is left, so that one that never ends does not keep
 * those after it from ending well. What has not ended by then goes on alone until the process does
 * not.
 */
export async function closeInOrder(
  parts: readonly ClosingPart[],
  { boundMs, log }: { boundMs: number; log: Pick<LogPort, "warn"> },
): Promise<void> {
  let leftMs = boundMs;
  for (const [index, { name, close, extraMs = 0, unfinished }] of parts.entries()) {
    const shareMs = leftMs / (parts.length - index);
    const started = performance.now();
    const onTimeout = () => {
      const which = unfinished?.() ?? [];
      const told = which.length === 0 ? "" : `: ${which.join(", ")}`;
      log.warn(`${name} did not end in time and are left behind${told}`);
    };
    try {
      await within<unknown>({ boundMs: shareMs + extraMs, onTimeout }, close);
    } catch (error) {
      log.warn(
        `${name} did not end well: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
    leftMs -= Math.max(0, performance.now() - started - extraMs);
  }
}
