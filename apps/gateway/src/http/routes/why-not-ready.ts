// Says why a gateway that answers can take no message.
import type { Gateway } from "../../gateway.ts";

/** One sentence each; empty: it can. */
export async function whyNotReady({
  isStopping,
  homeWrites,
  storageRoom,
}: Pick<Gateway, "isStopping" | "homeWrites" | "storageRoom">): Promise<string[]> {
  const reasons = await Promise.all([homeWrites.whyNot(), storageRoom?.whyNot()]);
  return [
    ...(isStopping() ? ["The gateway is stopping."] : []),
    ...reasons.filter((why) => why !== undefined),
  ];
}
