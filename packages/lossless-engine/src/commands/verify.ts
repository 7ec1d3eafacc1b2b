// Answers the chat command that audits the database.
import { verifyStore } from "../audit/verify.ts";
import { counted, describeFaults } from "../operating/describe-store.ts";
import type { Store } from "../store/store.ts";

/** What the audit found, for people. */
export async function verified(store: Store): Promise<string> {
  const { messages, payloads, faults } = await verifyStore(store);
  const read = `${counted(messages, "message")} and ${counted(payloads, "long text")} looked at`;
  return faults.length === 0
    ? `${read}: all are as they were stored.`
    : `${read}; ${describeFaults(faults)}`;
}
