// Exports the store of sessions in PostgreSQL.

export type { Beginning } from "./beginnings.ts";
export type { BlobName, Blobs } from "./blob-place.ts";
export type { SweptBlobs } from "./blobs/sweep-blobs.ts";
export type { OpenRange } from "./branch.ts";
export type { StoredSummary } from "./catalogue.ts";
export type { ChangedSession } from "./changed-sessions.ts";
export {
  checkPostgres,
  type PostgresCheck,
  type PostgresFacts,
  type QueueFacts,
} from "./check.ts";
export type { ChildRow } from "./children.ts";
export type { Forgetting } from "./copy/forgetting.ts";
export type { CopySummary, FoundRecord } from "./copy/found-sessions.ts";
export type {
  FileToKeep,
  FoundFile,
  KeptFile,
  KeptKind,
} from "./copy/kept-files.ts";
export {
  type ClaimedSession,
  type CopyClaim,
  openPostgresCopy,
  type PostgresCopy,
} from "./copy/open-copy.ts";
export type { RowsToPut } from "./copy/put-engine-rows.ts";
export type { CopiedEntry, CopyRecord, SessionToPut } from "./copy/put-session.ts";
export type { WaitingToPut } from "./copy/waiting-messages.ts";
export type { CostFollower, DayOfCosts } from "./cost-follower.ts";
export type { CostPiece, CostShelf } from "./cost-lines.ts";
export type { KeptInRows, RoundTrip } from "./database.ts";
export type { DutyPlace } from "./duties.ts";
export type { EngineRow, RowsOutcome } from "./engine-rows.ts";
export type { FailureKind } from "./failure.ts";
export type { BranchPart } from "./held-branch.ts";
export type { InboxMessage, LeftWork } from "./inbox.ts";
export type { JobProgress, JobRow, JobRows, JobRunRow } from "./jobs/job-rows.ts";
export type { PostgresQueue, QueuedWork, RunWork } from "./jobs/queue.ts";
export type { QueueStanding } from "./jobs/queue-standings.ts";
export type { LivingNode } from "./node.ts";
export type {
  DeliveryLine,
  Ledger,
  LineOf,
  RewritePlan,
  StoredSession,
  StoredStep,
  StorePorts,
} from "./ports.ts";
export {
  type AskedStanding,
  openPostgresReader,
  type PostgresReader,
  type PostgresReaderOptions,
  type SessionId,
  type SessionName,
  type SessionStanding,
} from "./reader.ts";
export type { MessageHit, MessageSearch, MessageSearchRequest } from "./search/search.ts";
export type { Searching } from "./search/searching.ts";
export type { LogState, LogStep, SessionLog } from "./session-log.ts";
export type { EntryRow } from "./step.ts";
export {
  openPostgresStore,
  type PostgresStore,
  type PostgresStoreOptions,
  type QueueSettings,
  type SweepRequest,
  type Swept,
  type SweptSession,
} from "./store.ts";
export type { PostgresTranscript } from "./transcript.ts";
export type { StoredReport, WholeReport } from "./whole-reports.ts";
