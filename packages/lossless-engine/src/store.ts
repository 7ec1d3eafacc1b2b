// Exports the store for programs that are no host.
export type { HostTranscript } from "./audit/transcript.ts";
export type { AuditProgress, Verification, VerifyOptions } from "./audit/verify.ts";
export {
  isMatched,
  isMessageMatched,
  type Matcher,
  type TextPattern,
  textPattern,
} from "./forget/matcher.ts";
export type {
  Elsewhere,
  ElsewherePlan,
  ForgetPlan,
  ForgetRequest,
  PlannedMessage,
} from "./forget/plan.ts";
export { readingsOf } from "./forget/readings.ts";
export type { Retention, RetentionState } from "./forget/retain.ts";
export {
  type FoundMessage,
  type FoundMessages,
  type MessageStore,
  type OpenOptions,
  openMessageStore,
  type ReadMessage,
  type StoreQuery,
  type View,
  type ViewRequest,
} from "./library/message-store.ts";
export {
  backUpStore,
  exportStore,
  importIntoStore,
  mendStore,
  planRetention,
  type Retained,
  retainStore,
  type StoreImportOptions,
  storeStatus,
} from "./library/operate.ts";
export {
  type FreeNumbers,
  numbersInRows,
  type RowNumbers,
  renumberedRows,
} from "./library/renumber.ts";
export {
  type NamedSession,
  openSessionRows,
  rowsBesides,
  type SessionRowsFile,
  type SessionRowsOptions,
  type SharedRows,
  type TakenRows,
} from "./library/session-rows.ts";
export { type Absence, placeholderOf, textsIn, wordsOf } from "./messages/placeholder.ts";
export {
  type Backup,
  type BackupFile,
  type BackupOptions,
  backupsBeside,
  describeBackups,
  isNamedBackup,
} from "./operating/backups.ts";
export type { Examined } from "./operating/examination.ts";
export type { Exported, ExportedFile, ExportOptions } from "./operating/export.ts";
export { copiesHolding, type HoldingCopy, inspectBackups, type Sought } from "./operating/held.ts";
export type { Imported, ImportedFile, ImportOptions } from "./operating/import.ts";
export type { KeptOut } from "./operating/keep-out.ts";
export {
  type MigrateOptions,
  type Migration,
  type MigrationPlace,
  migrateLosslessClaw,
} from "./operating/lossless-claw/migrate.ts";
export type { DroppedSetting, SettingsPlan } from "./operating/lossless-claw/plan-settings.ts";
export type { Mended } from "./operating/mend.ts";
export type { OperatingOptions, OperatingProgress } from "./operating/progress.ts";
export { type Restored, type RestoreRequest, restoreStore } from "./operating/restore.ts";
export type { StoreStatus } from "./operating/status.ts";
export { type OwnedSession, ownerOf } from "./sessions/owner.ts";
export type { Fault } from "./store/audit/fault.ts";
export type { Forgetting } from "./store/forget.ts";
export type { Graves } from "./store/graves.ts";
