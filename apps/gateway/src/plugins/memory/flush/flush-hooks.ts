// Puts a memory flush before each compaction that a turn comes to.
import type { CompactionHookEvent, HookPort } from "@clew/engine-core";
import type { Flushes, FlushSubject } from "./flushes.ts";

export interface FlushHooksRequest {
  flushes: Flushes;
  /** The session as it is now: a compaction may move it. */
  subject: () => FlushSubject;
}

/** `hooks` are told as well; what they throw is theirs. */
export function withFlush(
  hooks: HookPort | undefined,
  { flushes, subject }: FlushHooksRequest,
): HookPort {
  return {
    async beforeCompaction(event: CompactionHookEvent) {
      await flushes.beforeCompaction(subject());
      await hooks?.beforeCompaction?.(event);
    },
    async afterCompaction(event) {
      await flushes.afterCompaction(subject(), event.compacted);
      await hooks?.afterCompaction?.(event);
    },
  };
}
