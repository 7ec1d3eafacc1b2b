// Finds out whether a commit comes back, where commits wait for standbys.
import type pg from "pg";

/**
 * Leaves nothing behind: what it writes is a message in the log of writes that nobody reads. False:
 * it did not come back in time. `client` is used for nothing else; `beside` ends what waits.
 */
export async function comesBack(
  client: pg.Client,
  { beside, waitMs }: { beside: pg.Client; waitMs: number },
): Promise<boolean> {
  await client.query("begin");
  const { rows } = await client.query<{ pid: number }>(
    "select pg_backend_pid() as pid from pg_logical_emit_message(true, 'clew', 'doctor')",
  );
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(() => late.resolve(false), waitMs);
  const committed = client.query("commit").then(() => true);
  // Whoever is not waited for may fail later.
  committed.catch(() => {});
  const isBack = await Promise.race([committed, late.promise]);
  clearTimeout(timer);
  if (!isBack) await beside.query("select pg_cancel_backend($1)", [rows[0]!.pid]);
  return isBack;
}

/** `followers`: standbys that there are, whatever their names. */
export function standbyLacks({
  host,
  names,
  followers,
  commitMs,
}: {
  host: string;
  names: string;
  followers: number;
  commitMs: number;
}): string {
  const there = followers === 0 ? "no standby" : `${followers} of another name or state`;
  return `Commits at ${host} wait for a standby that is not there: synchronous_standby_names is "${names}", ${there} follows, and a commit did not come back within ${commitMs / 1000} s; start that standby, or take it out of synchronous_standby_names and reload the server.`;
}
