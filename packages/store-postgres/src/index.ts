// Exports the store of sessions in PostgreSQL.
export type { RoundTrip } from "./database.ts";
export type { BranchPart } from "./held-branch.ts";
export {
  openPostgresStore,
  type PostgresStore,
  type PostgresStoreOptions,
  type SessionName,
  type StoredReport,
} from "./store.ts";
export type {
  DeliveryLine,
  Ledger,
  LineOf,
  PostgresTranscript,
  RewritePlan,
  StoredSession,
  StoredStep,
  StorePorts,
} from "./transcript.ts";
