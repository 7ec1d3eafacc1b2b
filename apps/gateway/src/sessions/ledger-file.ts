// Keeps beside a session file what code knows of the session, between its compactions.
import { readFile, rm } from "node:fs/promises";
import type { LedgerKeeper } from "@clew/legacy-engine";
import { writeOwn } from "../home/own-writes.ts";
import { fromJson, toJson } from "../own-json.ts";

/** Where it is kept. */
export const ledgerFile = (sessionFile: string): string => `${sessionFile}.ledger`;

/** A cache: what cannot be read or written is made again from the session. */
export function keepLedger(sessionFile: string): LedgerKeeper {
  const file = ledgerFile(sessionFile);
  return {
    async read() {
      try {
        return fromJson(await readFile(file, "utf8")) as unknown;
      } catch {
        return undefined;
      }
    },
    async write(checkpoint) {
      const text = toJson(checkpoint);
      await writeOwn(file, text, { fsync: false }).catch(() => {});
    },
  };
}

/** To be called when the session file is not as it was left: what is known of it may be wrong. */
export async function forgetLedger(sessionFile: string): Promise<void> {
  await rm(ledgerFile(sessionFile), { force: true }).catch(() => {});
}
