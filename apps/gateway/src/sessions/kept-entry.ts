// Makes entries that stay as they were stored, whoever is handed them.
import { inSlices, MAX_LEVELS, stepsInSlices, withoutDeepParts } from "@clew/plugin-sdk/host";
import { originSteps, type TranscriptEntry, withOrigin } from "@clew/plugin-sdk/transcript";

/**
 * Under this key entries and messages say that they are the store's own plain data, frozen to the
 * last block. No copy has it. A set of them all would be slow: V8 sorts through a large weak set
 * at the first addition after a garbage collection, for 100 ms.
 */
const KEPT = Symbol("kept");
const isKept = (value: object) => Object.hasOwn(value, KEPT);

/**
 * Under this key a frozen entry that reads what it holds when it is asked says who reads for it. A
 * copy has the key too, and another entry there.
 */
export const READER = Symbol("reader");

const isLate = (entry: TranscriptEntry & { [READER]?: { entry: TranscriptEntry } }) =>
  entry[READER]?.entry === entry;

/**
 * The entry as its line in the file says it, frozen and shared with nobody who could change it.
 * Costs what is new: of a message that is kept only the entry around it is made again.
 */
export function keepEntry(entry: TranscriptEntry): TranscriptEntry {
  if (isKept(entry) || isLate(entry)) return entry;
  if (entry.type !== "message") return keepOwn(copyOf(entry));
  const { message, ...around } = entry;
  return keepOwn({ ...copyOf(around), message: isKept(message) ? message : copyOf(message) });
}

/**
 * A branch as it was read, every message with its id. Nobody else has its entries, so they
 * are frozen as they are; others have their turn meanwhile.
 */
export async function keepRead(branch: readonly TranscriptEntry[]): Promise<TranscriptEntry[]> {
  const origins = await stepsInSlices(originSteps(branch));
  const entries: TranscriptEntry[] = [];
  await inSlices(branch, (entry) =>
    entries.push(
      keepOwn(entry.type === "message" ? withOrigin(entry, origins.get(entry.id)!) : entry),
    ),
  );
  return entries;
}

/**
 * An entry that nobody else has. Where it is nested deeper than `MAX_LEVELS` a text stands instead,
 * and the line in the file stays as it is.
 */
export function keepOwn(own: TranscriptEntry): TranscriptEntry {
  markAsKept(own);
  if (freeze(own, MAX_LEVELS)) return own;
  const entry = { ...own, ...withoutDeepParts(own) };
  markAsKept(entry);
  freeze(entry, MAX_LEVELS);
  return entry;
}

/** To be frozen at once. */
function markAsKept(entry: TranscriptEntry): void {
  const parts = entry.type === "message" ? [entry, entry.message] : [entry];
  for (const part of parts)
    if (!Object.isFrozen(part)) Object.defineProperty(part, KEPT, { value: true });
}

/**
 * All of what only we have: what is frozen in there was frozen here, to the last block. False, and
 * not all of it, when it is nested deeper than that.
 */
function freeze(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return true;
  if (levels === 0) return false;
  if (Array.isArray(value)) {
    for (const child of value) if (!freeze(child, levels - 1)) return false;
  }
  // Not Object.values: a session of 10,000 messages would make 80,000 lists.
  else
    for (const key in value)
      if (!freeze((value as Record<string, unknown>)[key], levels - 1)) return false;
  Object.freeze(value);
  return true;
}

const copyOf = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;
