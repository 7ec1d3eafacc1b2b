// Says why a gateway that answers can take no message.
import type { Gateway } from "../../gateway.ts";

/** One sentence each; empty: it can. */
export async function whyNotReady({
  isStopping,
  homeWrites,
}: Pick<Gateway, "isStopping" | "homeWrites">): Promise<string[]> {
  const why = await homeWrites.whyNot();
  return [
    ...(isStopping() ? ["The gateway is stopping."] : []),
    ...(why === undefined ? [] : [why]),
  ];
}
