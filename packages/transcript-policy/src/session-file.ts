// Repairs session files, and is the only entry of this package that touches disk.
export { findRepairLeftovers } from "./session-file/leftovers.ts";
export {
  type DamageLook,
  type LineLook,
  lookAtLines,
  lookWhileReading,
} from "./session-file/look.ts";
export type { MendCounts } from "./session-file/mend-entry.ts";
export {
  type FileOperations,
  type LineGroups,
  type RepairCode,
  type RepairReport,
  type RepairRequest,
  repairSessionFileIfNeeded,
} from "./session-file/repair.ts";
