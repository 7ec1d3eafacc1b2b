// Says who has a session file open.
import { lstat } from "node:fs/promises";
import { isInForce, readOwner } from "../../locks/lock.ts";

/** Undefined: nobody has it open. */
export async function heldBy(file: string): Promise<string | undefined> {
  const lock = `${file}.lock`;
  const owner = await readOwner(lock);
  if (owner === null) {
    const isThere = await lstat(lock).then(
      () => true,
      () => false,
    );
    return isThere ? `it is locked by ${lock}, which cannot be read` : undefined;
  }
  if (!(await isInForce(owner))) return undefined;
  return `it is open in process ${owner.pid} on ${owner.host}, which keeps it for five minutes after its last reply; stop that process or wait, and copy again`;
}
