// Counts what a database was asked, by operation, and how long that took.
import type { RoundTrip } from "@clew/store-postgres";
import { createSeries, type Series } from "./series.ts";

/** Upper bounds of the buckets, seconds. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15] as const;

export interface StorageTally extends Series {
  take(trip: RoundTrip): void;
}

/** An operation is named by the first statement of what goes together. */
export function createStorageTally(): StorageTally {
  const { counted, timed, counter, timer } = createSeries();
  const operations = counter(
    ...(["clew_storage_operations_total", "What the database was asked."] as const),
    ...["operation", "outcome"],
  );
  const errors = counter(
    ...(["clew_storage_errors_total", "Attempts that failed, by why.", "operation"] as const),
    "kind",
  );
  const time = timer(
    "clew_storage_operation_seconds",
    "How long the database took, with the way there and back.",
    BUCKETS,
    "operation",
  );
  return {
    ...{ counted, timed },
    take({ statements, ms, failed }) {
      const operation = statements[0] ?? "";
      operations({ operation, outcome: failed === null ? "ok" : "failed" });
      if (failed !== null) errors({ operation, kind: failed });
      time(ms, { operation });
    },
  };
}
