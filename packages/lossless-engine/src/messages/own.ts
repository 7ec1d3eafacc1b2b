// Marks the messages that this engine writes into a view, to know them when they come back.
import { type AgentMessage, type CompactionSummaryMessage, messageId } from "@clew/plugin-sdk/core";
import { splitRecord } from "@clew/plugin-sdk/transcript";

/** Beside what hosts write on a message: plain data that copies keep and models never see. */
const MARK = "lossless";

const KEPT = "and every byte of them is kept:";
const KEPT_IN_PART = "as far as they are still kept:";

/**
 * What a record says of what it stands for; by this it is known where a host strips the mark.
 * `hasLetGo`: some of it was forgotten, or is too old to be kept.
 */
export const sayCovered = (covered: number, hasLetGo: boolean): string =>
  `${covered} earlier messages stand behind this record, ${hasLetGo ? KEPT_IN_PART : KEPT} lcm_grep searches them, lcm_describe shows one whole by the id after @.`;
/** What a record says before the lines of the past. */
export const sayPast = (lines: string): string =>
  `\n\nAll of them, oldest first, one line for each stretch; days and times are UTC, and lcm_describe shows what is in a stretch by its id or numbers:\n${lines}`;
const COVERED = new RegExp(
  `^(\\d+) earlier messages stand behind this record, (${KEPT}|${KEPT_IN_PART})`,
  "m",
);

/** What stands in a view for the messages before it. `name` tells it from every other. */
export function ownRecord(
  summary: string,
  { name, timestamp }: { name: string; timestamp: number | undefined },
): CompactionSummaryMessage {
  return {
    role: "compactionSummary",
    summary,
    ...(timestamp !== undefined && { timestamp }),
    __openclaw: { [MARK]: name },
  };
}

/** Its mark, which tells it from every other of this engine's. Undefined: it has none. */
export function ownName(message: AgentMessage): string | undefined {
  const name = message.__openclaw?.[MARK];
  return typeof name === "string" ? name : undefined;
}

/** True: this engine wrote it, and no host stored it. */
export const isOwn = (message: AgentMessage): boolean =>
  ownName(message) !== undefined ||
  (message.role === "compactionSummary" &&
    messageId(message) === undefined &&
    coveredBy(message.summary) > 0);

/** How many messages a record of this engine says it stands for; 0 = it is no such record. */
export const coveredBy = (record: string): number =>
  Number(COVERED.exec(splitRecord(record).summary)?.[1] ?? 0);

/** Pure. The record, which says no more that all is kept that it stands for. */
export const thinned = (record: string): string =>
  record.replace(COVERED, (said, _, kept: string) => said.replace(kept, KEPT_IN_PART));

/** True: it says so. */
export const isThinned = (record: string): boolean => COVERED.exec(record)?.[2] === KEPT_IN_PART;
