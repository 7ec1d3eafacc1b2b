// Everything hosts use to repair a session file; the only part of this package that touches disk.
export {
  type FileOperations,
  type RepairCode,
  type RepairReport,
  type RepairRequest,
  repairSessionFileIfNeeded,
} from "./session-file/repair.ts";
