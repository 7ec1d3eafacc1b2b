// Says what keeps jobs, how far they are, and how their runs went.
import type { Job, JobRun, JobState } from "./job.ts";

export interface JobStore {
  /**
   * Oldest first. `onUnreadable` is told of what holds none; it stays. Rejects when they cannot be
   * read.
   */
  jobs(onUnreadable?: (what: string) => void): Promise<Job[]>;
  /** Whether a job is there, be it one that cannot be read just now. */
  isThere(id: string): Promise<boolean>;
  /** Durable when it resolves. */
  write(job: Job): Promise<void>;
  /** With all that is known of it; false: there is none. */
  remove(id: string): Promise<boolean>;
  /** Rejects when there is one that cannot be read. */
  state(id: string): Promise<JobState>;
  /** Durable when it resolves. */
  writeState(id: string, state: JobState): Promise<void>;
  /** Of a run that is there already nothing changes. */
  appendRun(id: string, run: JobRun): Promise<void>;
  /** Newest first. */
  runs(id: string, limit: number): Promise<JobRun[]>;
  /** Absent: one gateway alone runs them. */
  readonly shared?: SharedJobs;
}

/** Jobs are where several gateways run them. */
export interface SharedJobs {
  /** The same for all; to be asked once `jobs` was. */
  readonly clock: { now(): number };
  /** By job; of one that is not there nothing is known. */
  states(): Promise<ReadonlyMap<string, JobState>>;
  /** Durable when it is true. False: another gateway went on from there. */
  advance(id: string, from: JobState, to: JobState): Promise<boolean>;
  /** Gateways that live. */
  gateways(): Promise<number>;
  /** How what they do together stands. */
  queues(): Promise<JobQueue[]>;
}

export interface JobQueue {
  queue: string;
  /** Pieces of work that are due and wait. */
  waiting: number;
  running: number;
  /** Those that wait for another attempt. */
  retrying: number;
  /** How long the oldest that waits has been due, ms; 0: none waits. */
  oldestMs: number;
  /** ms since the epoch; null: none was, as far as is known. */
  doneAt: number | null;
}

/** By whose clock jobs are due. */
export const clockOf = ({ shared }: JobStore, own: { now(): number }): { now(): number } =>
  shared?.clock ?? own;
