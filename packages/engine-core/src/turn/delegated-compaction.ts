// What an engine reaches when it leaves compaction to the host.
import type { CompactResult } from "@clew/plugin-sdk/core";
import { compactionAskOf } from "@clew/plugin-sdk/host";
import type { CallScope } from "../engine/guard.ts";
import type { HostPorts } from "../ports.ts";

/** Nothing when the host has no built-in compaction. */
export function delegatedCompaction(
  { compaction }: Pick<HostPorts, "compaction">,
  tell: (state: CompactResult | "started") => void = () => {},
): Pick<CallScope, "compaction"> {
  return compaction === undefined
    ? {}
    : {
        compaction: async (params, { onProgress }) => {
          const { abortSignal: signal } = params;
          tell("started");
          const result = await compaction.compact(compactionAskOf(params), { signal, onProgress });
          tell(result);
          return result;
        },
      };
}
