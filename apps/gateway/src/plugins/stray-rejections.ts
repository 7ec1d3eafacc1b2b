// Logs promises of plugins that fail unheard, so that they do not end the gateway.
import type { LogPort } from "@clew/engine-core";
import { messageOf } from "./invalid.ts";
import { pluginOfStack } from "./load/module-hooks.ts";

/** For the life of the process. */
export function survivePluginRejections(log: LogPort): void {
  process.on("unhandledRejection", (reason: unknown) => {
    const pluginId = reason instanceof Error ? pluginOfStack(reason.stack ?? "") : undefined;
    // Without a listener Node would end the process the same way.
    if (pluginId === undefined) throw reason;
    log.error(
      `[plugins] ${pluginId}: a promise was rejected and nothing handled it: ${messageOf(reason)}`,
    );
  });
}
