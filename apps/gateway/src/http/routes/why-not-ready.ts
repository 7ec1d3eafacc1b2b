// Says why a gateway that answers can take no message.
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import type { Gateway } from "../../gateway.ts";

/** One sentence each; empty: it can. */
export async function whyNotReady({
  isStopping,
  home,
}: Pick<Gateway, "isStopping" | "home">): Promise<string[]> {
  const canWrite = await access(home, constants.W_OK).then(
    () => true,
    () => false,
  );
  return [
    ...(isStopping() ? ["The gateway is stopping."] : []),
    ...(canWrite ? [] : ["The home cannot be written."]),
  ];
}
