// Keeps nothing of a child session whose host deleted it.
import type { SessionRef } from "@clew/plugin-sdk/core";
import { patiently } from "../patiently.ts";
import { removeSession } from "../store/remove.ts";
import type { Stores } from "../stores.ts";

/** How many messages it were. A database that is not there is not made for it. */
export async function forgetDeleted(stores: Stores, session: SessionRef): Promise<number> {
  if (stores.missing() !== null) return 0;
  const store = stores.of(session);
  if (store === null) return 0;
  return patiently(() => removeSession(store, { ...session, owner: stores.owner }));
}
