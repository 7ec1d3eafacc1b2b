// Says of a turn's calls what was read from the provider's cache, and where one was broken.
import type { CacheReport, ModelCallReport } from "@clew/engine-core";

/** What the turn's last call read, and the newest break before it. */
export interface TurnCache extends CacheReport {
  /** A call before the last whose cache was broken. Absent: none was. */
  earlier?: {
    /** Of the turn's calls, from 1. */
    call: number;
    predicted: CacheReport["predicted"];
    billed: CacheReport["billed"];
    broke: NonNullable<CacheReport["broke"]>;
  };
}

/** Something that was kept is not read. */
const BREAKS: ReadonlySet<string | undefined> = new Set([
  "model-changed",
  "tools-changed",
  "system-changed",
  "messages-changed",
  "expired",
]);

/** Pure. Undefined: the last call has no reply, or none was made. */
export function cacheOf(calls: readonly Pick<ModelCallReport, "cache">[]): TurnCache | undefined {
  const last = calls.at(-1)?.cache;
  if (last === undefined) return undefined;
  const before = calls.slice(0, -1);
  const at = before.findLastIndex(({ cache }) => BREAKS.has(cache?.broke?.code));
  const { predicted, billed, broke } = before[at]?.cache ?? {};
  if (predicted === undefined || billed === undefined || broke === undefined) return last;
  return { ...last, earlier: { call: at + 1, predicted, billed, broke } };
}
