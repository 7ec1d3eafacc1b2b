// Says what hands out work that no person waits for, here or to all gateways of a database.

/** A piece of work. */
export interface Work {
  /** Under which it was sent. */
  key: string;
  /** As it was given: plain data. */
  data: unknown;
}

/** Where it rejects, the work is begun once more, here or at another gateway. */
export type RunWork = (work: Work, signal: AbortSignal) => Promise<void>;

export interface Jobs {
  /**
   * What waits or is done under this key (letters, digits, dots, dashes, underscores and slashes)
   * is not sent again. It may be begun twice where a gateway dies: what it does has to bear that.
   */
  send(queue: string, work: Work): Promise<void>;
  /** Does what was sent and is sent, several at a time; the signal fires when it has to end. */
  work(queue: string, run: RunWork): Promise<void>;
  /** Once in each such time, whatever number of gateways there is, and never two at once. */
  every(name: string, everyMs: number, run: (signal: AbortSignal) => Promise<void>): Promise<void>;
  /** Begins nothing more. What runs gets so long, and is told to end then. Never rejects. */
  stop(graceMs?: number): Promise<void>;
}
