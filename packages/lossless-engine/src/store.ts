// Exports the store for programs that are no host.
export type { HostTranscript } from "./audit/transcript.ts";
export type { AuditProgress, Verification, VerifyOptions } from "./audit/verify.ts";
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
export type { Fault } from "./store/audit/fault.ts";
