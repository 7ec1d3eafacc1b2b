// Says which messages are too old or too many, and why others stay.
import { NEWEST, type Retention, type RetentionState } from "../forget/retain.ts";
import { counted } from "./describe-store.ts";

/** Pure. Sentences about what goes, or why nothing does, and what stays nevertheless. */
export function describeRetention(
  { old, timeless, megabytes, isOver, hasLong }: RetentionState,
  { keepDays, keepMegabytes, keepNewest = NEWEST }: Retention,
): { readonly going: readonly string[]; readonly staying: readonly string[] } {
  const used = `${megabytes.toFixed(1)} MB are in use`;
  const newest = `the newest ${keepNewest.toLocaleString("en-US")}`;
  const going = [
    ...(old ? [`${counted(old, "message")} said more than ${counted(keepDays!, "day")} ago`] : []),
    ...(isOver && hasLong
      ? [
          `of the messages that came first, but for ${newest}, the long ones until no more than ${keepMegabytes} MB are in use (now ${megabytes.toFixed(1)})`,
        ]
      : []),
  ];
  const staying = [
    ...(old === 0 ? [`No message is known to be older than ${counted(keepDays!, "day")}.`] : []),
    ...(timeless
      ? [
          `${counted(timeless, "message")} ${timeless === 1 ? "has" : "have"} no time, nor has one that came after in the same conversation: nobody knows how old they are, and they stay.`,
        ]
      : []),
    ...(keepMegabytes !== undefined && !isOver
      ? [`${used}, no more than the ${keepMegabytes} that may be.`]
      : []),
    ...(isOver && !hasLong
      ? [
          `${used}, more than the ${keepMegabytes} that are to be: what is left are ${newest} messages, short ones, which give no room back, and what tells of the rest.`,
        ]
      : []),
  ];
  return { going, staying };
}
