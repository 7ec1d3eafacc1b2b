// Waits for what nobody waited for yet before a command ends.
import { abortable } from "@clew/plugin-sdk/host";
import type { Gateway } from "../gateway.ts";
import type { Output } from "../terminal/output.ts";

/** As long as the person does; what is not stored then is made up for the next time. */
export async function waitForMemory(
  { host: { flushes } }: Pick<Gateway, "host">,
  output: Pick<Output, "note">,
  leaving: AbortSignal,
): Promise<void> {
  if (!flushes.isRunning() || leaving.aborted) return;
  output.note("(storing what should be remembered; Ctrl-C leaves it for the next time)");
  await abortable(leaving, () => flushes.settled()).catch(() => {});
}

/** False: the person did not wait, and they end with the gateway. */
export async function waitForSessions(
  { unawaited }: Pick<Gateway, "unawaited">,
  output: Pick<Output, "note">,
  leaving: AbortSignal,
): Promise<boolean> {
  if (!unawaited.isRunning() || leaving.aborted) return !leaving.aborted;
  output.note("(waiting for sessions that others started or wrote to; Ctrl-C ends them)");
  return abortable(leaving, () => unawaited.settled()).then(
    () => true,
    () => false,
  );
}
