// Waits for what is being remembered before a command ends.
import { abortable } from "@clew/plugin-sdk/host";
import type { Gateway } from "../gateway.ts";
import type { Output } from "../terminal/output.ts";

/** As long as the person does; what is not stored then is made up for the next time. */
export async function waitForMemory(
  { host: { flushes } }: Gateway,
  output: Pick<Output, "note">,
  leaving: AbortSignal,
): Promise<void> {
  if (!flushes.isRunning() || leaving.aborted) return;
  output.note("(storing what should be remembered; Ctrl-C leaves it for the next time)");
  await abortable(leaving, () => flushes.settled()).catch(() => {});
}
