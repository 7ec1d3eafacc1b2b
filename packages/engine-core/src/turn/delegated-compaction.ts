// What an engine reaches when it leaves compaction to the host.
import { compactionAskOf } from "@clew/plugin-sdk/host";
import type { CallScope } from "../engine/guard.ts";
import type { HostPorts } from "../ports.ts";

/** Nothing when the host has no built-in compaction. */
export function delegatedCompaction(
  { compaction }: Pick<HostPorts, "compaction">,
  onAsked: () => void = () => {},
): Pick<CallScope, "compaction"> {
  return compaction === undefined
    ? {}
    : {
        compaction: (params, { onProgress }) => {
          onAsked();
          return compaction.compact(compactionAskOf(params), {
            signal: params.abortSignal,
            onProgress,
          });
        },
      };
}
