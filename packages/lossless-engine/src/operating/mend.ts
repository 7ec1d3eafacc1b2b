// Reads all of a database, says what of it cannot be read, and mends what can be mended.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { indexFaults } from "../audit/verify.ts";
import { patiently } from "../patiently.ts";
import { catchUp } from "../search/catch-up.ts";
import type { Fault } from "../store/audit/fault.ts";
import { markDamaged } from "../store/examine.ts";
import { forgetIndexes } from "../store/search-index.ts";
import type { Store } from "../store/store.ts";
import { counted, describeStore } from "./describe-store.ts";
import { cannotRead, type Examined, examine, wrongPagesOf } from "./examination.ts";
import { auditOptions, type OperatingOptions } from "./progress.ts";

/** What reading all of a database came to, and what was done about it. */
export interface Mended extends Examined {
  /** True: all of it can be read. */
  readonly isWhole: boolean;
  /** True: what is broken is read again from its transcripts. */
  readonly isHealing: boolean;
  /** What the search index said otherwise than the messages; it is made again then. */
  readonly indexFaults: readonly Fault[];
  /** All of it for people. */
  readonly text: string;
}

const HEALING =
  "They are read again from the transcripts when their sessions go on after a restart";
const MOVE_AWAY =
  "Move the database away while the host is stopped: a new one is filled from the session files.";

export async function mend(store: Store, options: OperatingOptions = {}): Promise<Mended> {
  const examined = await examine(store, options);
  const { read, broken, lost, pages, isIndexDamaged } = examined;
  const isReadable = broken.length + lost.length === 0;
  const looked = `${counted(read, "message")} looked at${isReadable ? ", all can be read" : ""}.`;
  // Nothing is written to a file whose pages are damaged.
  const isWritable = lost.length === 0 && pages.length === 0 && !isIndexDamaged;
  const isHealing = broken.length > 0 && isWritable;
  const wrong = isWritable ? await indexFaults(store, auditOptions(options)) : [];
  if (isHealing) await patiently(() => markDamaged(store, broken));
  if (wrong.length > 0) await makeIndexAgain(store, options);
  const told = [
    looked,
    ...(broken.length === 0 ? [] : [`${cannotRead(broken)}.${isHealing ? ` ${HEALING}.` : ""}`]),
    ...(lost.length === 0 ? [] : [`${cannotRead(lost)}: their pages of the file are damaged.`]),
    ...(pages.length === 0
      ? []
      : [`${wrongPagesOf(pages)}. What is written next may overwrite messages.`]),
    ...(isIndexDamaged ? ["The search index is damaged: searches fail."] : []),
    ...(lost.length + pages.length > 0 || isIndexDamaged ? [MOVE_AWAY] : []),
    ...(wrong.length > 0 ? [`${describeIndex(wrong)} It was made again from the messages.`] : []),
  ];
  const text = `${told.join(" ")}\n${await describeStore(store).catch(orDamaged)}.`;
  const isWhole = isReadable && pages.length === 0 && !isIndexDamaged && wrong.length === 0;
  return { ...examined, isWhole, isHealing, indexFaults: wrong, text };
}

/** Searches read the messages themselves until it is there again. */
async function makeIndexAgain(store: Store, { signal, onProgress }: OperatingOptions) {
  await patiently(() => forgetIndexes(store), signal);
  onProgress?.({ part: "indexing for searches", done: 0, of: null });
  await catchUp(store, signal);
}

/** Faults that are named. */
const MOST_NAMED = 3;

function describeIndex(faults: readonly Fault[]): string {
  const named = faults.slice(0, MOST_NAMED).map(({ text }) => text);
  const more = faults.length - named.length;
  return `The search index was wrong: ${named.join("; ")}${more > 0 ? `; and ${counted(more, "thing")} more` : ""}.`;
}

function orDamaged(error: unknown): string {
  if (!ContextEngineError.is(error, "STORAGE_FAILED")) throw error;
  return error.message.replace(/\.$/, "");
}
