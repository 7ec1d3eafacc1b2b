// How large a session's file is.
import { stat } from "node:fs/promises";
import type { HostSession } from "@clew/engine-core";

/** 0: there is none. */
export async function transcriptBytes({ session }: { session: HostSession }): Promise<number> {
  const { sessionFile } = session;
  if (sessionFile === undefined) return 0;
  return stat(sessionFile).then(
    ({ size }) => size,
    () => 0,
  );
}
