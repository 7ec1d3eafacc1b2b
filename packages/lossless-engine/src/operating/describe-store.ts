// Says in a line how a database stands.
import { patiently } from "../patiently.ts";
import type { Fault } from "../store/audit/fault.ts";
import { holdingsOf } from "../store/health.ts";
import { useOf } from "../store/oldest.ts";
import { backlogOf } from "../store/search-index.ts";
import type { Store } from "../store/store.ts";
import { absentCounts } from "../store/tombstones.ts";

const MEGABYTE = 1e6;

/** How much it holds, where it is, and whether searches have to catch up first. */
export async function describeStore(store: Store): Promise<string> {
  const { messages, conversations, bytes } = await patiently(() => holdingsOf(store));
  const backlog = await patiently(() => backlogOf(store));
  const index =
    backlog === 0
      ? "complete"
      : `complete but for the newest ${counted(backlog, "message")}, which the next search adds first`;
  const { forgotten, expired } = await patiently(() => store.read(absentCounts));
  const absent = [
    ...(forgotten === 0 ? [] : [`${forgotten.toLocaleString("en-US")} forgotten`]),
    ...(expired === 0 ? [] : [`${expired.toLocaleString("en-US")} no longer kept`]),
  ];
  const gone = absent.length === 0 ? "" : ` (${absent.join(", ")})`;
  const free = await patiently(() => freeBytesOf(store, bytes));
  const room = free < MEGABYTE ? "" : ` (${inMegabytes(free)} of it free)`;
  return `${counted(messages, "message")}${gone} of ${counted(conversations, "conversation")}, ${inMegabytes(bytes)}${room} in ${store.path}; the search index is ${index}`;
}

/** Of the file's `bytes`, those that nothing is in, or will be once it is written anew. */
export function freeBytesOf(store: Store, bytes: number): number {
  const use = useOf(store);
  return bytes - use.bytes + use.looseBytes;
}

export const inMegabytes = (bytes: number): string => `${(bytes / MEGABYTE).toFixed(1)} MB`;

/** Of a file that is not there yet. */
export const nothingIn = (path: string): string =>
  `nothing is kept yet: there is no database ${path}`;

export const counted = (number: number, thing: string): string =>
  `${number.toLocaleString("en-US")} ${thing}${number === 1 ? "" : "s"}`;

/** Faults that are told one by one. */
const MOST_TOLD = 20;

/** What an audit found, a line for each, and what to do. */
export function describeFaults(faults: readonly Fault[]): string {
  const more = faults.length - MOST_TOLD;
  return [
    `${counted(faults.length, "thing")} ${faults.length === 1 ? "is" : "are"} not as stored:`,
    ...faults.slice(0, MOST_TOLD).map(({ text }) => `  ${text}`),
    ...(more > 0 ? [`  and ${more.toLocaleString("en-US")} more`] : []),
    "Keep a copy of the file and its backups before anything else; a database that is moved away is filled anew from the session files.",
  ].join("\n");
}
