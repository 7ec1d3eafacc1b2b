// How work on a database says how far it is, and is ended.
import type { AuditProgress } from "../audit/verify.ts";

/** How far a piece of work on a database is. */
export interface OperatingProgress {
  /** What is being done. */
  readonly part: string;
  /** How much of it is done. */
  readonly done: number;
  /** How much there is. Null: nobody knows yet. */
  readonly of: number | null;
}

/** What every piece of work on a database may be given. */
export interface OperatingOptions {
  /** Absent: nobody is told how far it is. */
  readonly onProgress?: ((progress: OperatingProgress) => void) | undefined;
  /** Ends it with what was done so far, and nothing half done. Absent: nothing does. */
  readonly signal?: AbortSignal | undefined;
}

/** For an audit that is a part of such work. */
export const auditOptions = ({ onProgress, signal }: OperatingOptions) => ({
  signal,
  onProgress: ({ part, read, messages }: AuditProgress) =>
    onProgress?.({ part: `checking the ${part}`, done: read, of: messages }),
});
