// Repairs session files, and is the only entry of this package that touches disk.
export type { MendCounts } from "./session-file/mend-entry.ts";
export {
  type FileOperations,
  type RepairCode,
  type RepairReport,
  type RepairRequest,
  repairSessionFileIfNeeded,
} from "./session-file/repair.ts";
