// Who runs turns, as engines are told of it.
import type { HostCapability } from "@clew/plugin-sdk/core";

/** A host as engines are told of it. */
export interface ExecutionHost {
  /** For programs. */
  id: string;
  /** Named in errors. */
  label: string;
  /** What it can do for engines. */
  capabilities: readonly HostCapability[];
}
