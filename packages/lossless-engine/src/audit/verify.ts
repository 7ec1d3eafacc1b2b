// Audits a whole database in slices, and tells of everything that is not as it was stored.
import { patiently } from "../patiently.ts";
import { changePart } from "../store/audit/changes.ts";
import { type AuditPart, type Fault, readable } from "../store/audit/fault.ts";
import { filePart } from "../store/audit/file.ts";
import { messagePart } from "../store/audit/messages.ts";
import { payloadPart } from "../store/audit/payloads.ts";
import { sealPart } from "../store/audit/seals.ts";
import { indexPart } from "../store/audit/search-index.ts";
import { summaryPart } from "../store/audit/summaries.ts";
import { holdingsOf } from "../store/health.ts";
import type { Snapshot } from "../store/snapshot.ts";
import type { Store } from "../store/store.ts";
import { absentCounts } from "../store/tombstones.ts";
import { othersTurn, pieceOfTime } from "../turns.ts";
import { type HostTranscript, transcriptFaults } from "./transcript.ts";

/** What an audit came to. */
export interface Verification {
  /** True: nothing was found. */
  readonly isWhole: boolean;
  /** How many messages were read. */
  readonly messages: number;
  /** How many long texts were read. */
  readonly payloads: number;
  /** How many messages were forgotten. */
  readonly forgotten: number;
  /** How many are no longer kept, for their age or the size of the file. */
  readonly expired: number;
  /** What is not as it was stored, in the order in which it was found. */
  readonly faults: readonly Fault[];
}

/** What an audit may be given. */
export interface VerifyOptions {
  /** Absent: nobody is told how far it is. */
  readonly onProgress?: ((progress: AuditProgress) => void) | undefined;
  /** Ends it. Absent: nothing does. */
  readonly signal?: AbortSignal | undefined;
  /** Transcripts to hold the store against. Absent: none. */
  readonly transcripts?: readonly HostTranscript[] | undefined;
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
  ...[filePart(), messagePart(), changePart(), payloadPart(), summaryPart(), sealPart()],
  indexPart(),
];

const NONE_ABSENT = { forgotten: 0, expired: 0 };

/** Nothing is written. Others have their turn meanwhile; what they store is read, too. */
export async function verifyStore(
  store: Store,
  { onProgress = () => {}, signal, transcripts = [] }: VerifyOptions = {},
): Promise<Verification> {
  const messages = await patiently(() => holdingsOf(store).messages, signal).catch(() => 0);
  const parts = await auditMoments(store, { onProgress, signal, messages });
  const untold: Fault[] = [];
  for (const [read, transcript] of transcripts.entries()) {
    untold.push(...(await transcriptFaults(store, transcript)));
    onProgress({ part: "transcripts", read: read + 1, messages });
    signal?.throwIfAborted();
  }
  const faults = eachOnce([...parts.flatMap((part) => part.faults), ...untold]);
  const readOf = (name: string) => parts.find((part) => part.name === name)?.read ?? 0;
  return {
    isWhole: faults.length === 0,
    ...(await patiently(() => store.read(absentCounts), signal).catch(() => NONE_ABSENT)),
    ...{ messages: readOf("messages"), payloads: readOf("payloads"), faults },
  };
}

/** What is read again at a later moment may be told again. */
const eachOnce = (faults: readonly Fault[]): Fault[] => [
  ...new Map(
    faults.map((fault) => [`${fault.what} ${fault.number} ${fault.text}`, fault]),
  ).values(),
];

/** What one part of the audit finds: whether the search indexes say what the messages say. */
export async function indexFaults(
  store: Store,
  { onProgress = () => {}, signal }: Pick<VerifyOptions, "onProgress" | "signal"> = {},
): Promise<readonly Fault[]> {
  const part = indexPart();
  const messages = await patiently(() => holdingsOf(store).messages, signal).catch(() => 0);
  const moment = await patiently(() => store.snapshot(), signal);
  try {
    await auditPart(part, { moment, onProgress, signal, messages });
  } finally {
    moment.close();
  }
  return part.faults;
}

interface Auditing {
  onProgress(progress: AuditProgress): void;
  readonly signal: AbortSignal | undefined;
  readonly messages: number;
}

/** Whoever stores without a pause is not followed for ever. */
const MOST_MOMENTS = 8;

/**
 * One moment, then a later one as long as something came meanwhile: every message and what belongs
 * to it is read that is there in the end. Search indexes and pages are those of the first moment.
 */
async function auditMoments(store: Store, auditing: Auditing): Promise<readonly AuditPart[]> {
  let parts: readonly AuditPart[] = [];
  let bound: string | undefined;
  for (let time = 1; ; time++) {
    const moment = await patiently(() => store.snapshot(), auditing.signal);
    try {
      const isLast = time === MOST_MOMENTS;
      // Whoever forgets binds everything anew: what was read of it says nothing any more.
      const now = boundSince(store, moment);
      const isAnew = now !== bound;
      if (isAnew && isLast) return parts;
      if (isAnew) parts = auditParts();
      bound = now;
      const before = readBy(parts);
      for (const part of parts) {
        if (!isAnew && part.readLater === undefined) continue;
        if (!isAnew) part.readLater?.();
        // In the end nobody else has a turn, so nothing comes any more.
        if (isLast) part.readOn(moment, () => false);
        else await auditPart(part, { ...auditing, moment });
      }
      if (isLast || (!isAnew && readBy(parts) === before)) return parts;
    } finally {
      moment.close();
    }
  }
}

const readBy = (parts: readonly AuditPart[]): number =>
  parts.reduce((sum, { read }) => sum + read, 0);

/** Another one when something is forgotten, or another file is in the database's place. */
const boundSince = (store: Store, moment: Snapshot): string =>
  `${store.fileInUse()} ${readable(() => moment.read((sql) => absentCounts(sql).forgotten))}`;

async function auditPart(
  part: AuditPart,
  { moment, onProgress, signal, messages }: Auditing & { readonly moment: Snapshot },
): Promise<void> {
  try {
    for (let isDone = false; !isDone; ) {
      isDone = part.readOn(moment, pieceOfTime());
      onProgress({ part: part.name, read: part.read, messages });
      await othersTurn();
      signal?.throwIfAborted();
    }
  } finally {
    part.close?.();
  }
}
