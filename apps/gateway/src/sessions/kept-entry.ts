// Makes entries that stay as they were stored, whoever is handed them.
import {
  inSlices,
  isFixed,
  MAX_LEVELS,
  markAsFixed,
  stepsInSlices,
  withoutDeepParts,
} from "@clew/plugin-sdk/host";
import { originSteps, type TranscriptEntry, withOrigin } from "@clew/plugin-sdk/transcript";
import { fromJson, toJson } from "../own-json.ts";

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
  if (isFixed(entry) || isLate(entry)) return entry;
  if (entry.type !== "message") return keepOwn(copyOf(entry));
  const { message, ...around } = entry;
  return keepOwn({ ...copyOf(around), message: isFixed(message) ? message : copyOf(message) });
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
  if (freezeEntry(own)) return own;
  const entry = { ...own, ...withoutDeepParts(own) };
  freezeEntry(entry);
  return entry;
}

/** False, and not all of it, when it is nested too deeply. */
const freezeEntry = (entry: TranscriptEntry): boolean =>
  (entry.type !== "message" || freezeWhole(entry.message, MAX_LEVELS - 1)) &&
  freezeWhole(entry, MAX_LEVELS);

function freezeWhole(whole: object, levels: number): boolean {
  if (Object.isFrozen(whole)) return true;
  const found = freezeParts(whole, levels);
  if (found === DEEP) return false;
  // Who copies an odd one has to take care what the copy inherits from.
  if (found === PLAIN) markAsFixed(whole);
  Object.freeze(whole);
  return true;
}

/** What an object holds: nothing special, a key `__proto__`, or parts nested too deeply. */
const [PLAIN, ODD, DEEP] = [0, 1, 2];

/** The parts of what only we have: what is frozen in there was frozen here, to the last one. */
function freezeParts(value: object, levels: number): number {
  if (levels === 0) return DEEP;
  let found = PLAIN;
  if (Array.isArray(value))
    for (const part of value) found = Math.max(found, freeze(part, levels - 1));
  // Not Object.values: a session of 10,000 messages would make 80,000 lists.
  else
    for (const key in value) {
      const inside = freeze((value as Record<string, unknown>)[key], levels - 1);
      found = Math.max(found, inside, key === "__proto__" ? ODD : PLAIN);
    }
  return found;
}

function freeze(value: unknown, levels: number): number {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return PLAIN;
  const found = freezeParts(value, levels);
  if (found !== DEEP) Object.freeze(value);
  return found;
}

const copyOf = <Value>(value: Value): Value => fromJson(toJson(value)) as Value;
