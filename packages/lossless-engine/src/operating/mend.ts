// Reads all of a database, says what of it cannot be read, and mends what can be mended.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { patiently } from "../patiently.ts";
import { markDamaged } from "../store/examine.ts";
import type { Store } from "../store/store.ts";
import { counted, describeStore } from "./describe-store.ts";
import { cannotRead, type Examined, examine } from "./examination.ts";
import type { OperatingOptions } from "./progress.ts";

/** What reading all of a database came to, and what was done about it. */
export interface Mended extends Examined {
  /** True: all of it can be read. */
  readonly isWhole: boolean;
  /** True: what is broken is read again from its transcripts. */
  readonly isHealing: boolean;
  /** All of it for people. */
  readonly text: string;
}

const HEALING =
  "They are read again from the transcripts when their sessions go on after a restart";
const MOVE_AWAY =
  "Move the database away while the host is stopped: a new one is filled from the session files.";

export async function mend(store: Store, options: OperatingOptions = {}): Promise<Mended> {
  const examined = await examine(store, options);
  const { read, broken, lost, isIndexDamaged } = examined;
  const isReadable = broken.length + lost.length === 0;
  const looked = `${counted(read, "message")} looked at${isReadable ? ", all can be read" : ""}.`;
  // Nothing is written to a file whose pages are damaged.
  const isHealing = broken.length > 0 && lost.length === 0 && !isIndexDamaged;
  if (isHealing) await patiently(() => markDamaged(store, broken));
  const told = [
    looked,
    ...(broken.length === 0 ? [] : [`${cannotRead(broken)}.${isHealing ? ` ${HEALING}.` : ""}`]),
    ...(lost.length === 0 ? [] : [`${cannotRead(lost)}: their pages of the file are damaged.`]),
    ...(isIndexDamaged ? ["The search index is damaged: searches fail."] : []),
    ...(lost.length > 0 || isIndexDamaged ? [MOVE_AWAY] : []),
  ];
  const text = `${told.join(" ")}\n${await describeStore(store).catch(orDamaged)}.`;
  return { ...examined, isWhole: isReadable && !isIndexDamaged, isHealing, text };
}

function orDamaged(error: unknown): string {
  if (!ContextEngineError.is(error, "STORAGE_FAILED")) throw error;
  return error.message.replace(/\.$/, "");
}
