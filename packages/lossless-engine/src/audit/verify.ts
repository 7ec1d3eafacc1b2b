// Audits a whole database in slices, and tells of everything that is not as it was stored.
import { patiently } from "../patiently.ts";
import { changePart } from "../store/audit/changes.ts";
import type { AuditPart, Fault } from "../store/audit/fault.ts";
import { filePart } from "../store/audit/file.ts";
import { messagePart } from "../store/audit/messages.ts";
import { payloadPart } from "../store/audit/payloads.ts";
import { indexPart } from "../store/audit/search-index.ts";
import { holdingsOf } from "../store/health.ts";
import type { Store } from "../store/store.ts";
import { othersTurn, pieceOfTime } from "../turns.ts";

/** What an audit came to. */
export interface Verification {
  /** True: nothing was found. */
  readonly isWhole: boolean;
  /** How many messages were read. */
  readonly messages: number;
  /** How many long texts were read. */
  readonly payloads: number;
  /** What is not as it was stored, in the order in which it was found. */
  readonly faults: readonly Fault[];
}

/** How far an audit is. */
export interface AuditProgress {
  /** What is being read. */
  readonly part: string;
  /** How much of it was read. */
  readonly read: number;
  /** How many messages there are. */
  readonly messages: number;
}

/** What is checked, in this order; a table of its own is one part more. */
const auditParts = (): readonly AuditPart[] => [
  ...[filePart(), messagePart(), changePart(), payloadPart(), indexPart()],
];

/** Nothing is written. Others have their turn meanwhile. */
export async function verifyStore(
  store: Store,
  {
    onProgress = () => {},
    signal,
  }: {
    onProgress?: ((progress: AuditProgress) => void) | undefined;
    signal?: AbortSignal | undefined;
  } = {},
): Promise<Verification> {
  const parts = auditParts();
  const messages = await patiently(() => holdingsOf(store).messages, signal).catch(() => 0);
  for (const part of parts)
    for (let isDone = false; !isDone; ) {
      isDone = await patiently(() => part.readOn(store, pieceOfTime()), signal);
      onProgress({ part: part.name, read: part.read, messages });
      await othersTurn();
      signal?.throwIfAborted();
    }
  const faults = parts.flatMap((part) => part.faults);
  const readOf = (name: string) => parts.find((part) => part.name === name)?.read ?? 0;
  return {
    isWhole: faults.length === 0,
    ...{ messages: readOf("messages"), payloads: readOf("payloads"), faults },
  };
}
