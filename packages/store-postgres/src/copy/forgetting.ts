// Takes out of a database what is to be forgotten, but for what sessions say.
import { dropUnnamed } from "../blobs/sweep-blobs.ts";
import { removeSession } from "../catalogue.ts";
import { costShelf } from "../cost-lines.ts";
import type { Database, Statement } from "../database.ts";
import { LIVES } from "../node.ts";
import type { FoundFile } from "./kept-files.ts";

/** What goes where something is to be forgotten; once more changes nothing. */
export interface Forgetting {
  /** Addresses of gateways that live, and of commands that write, but for those of a place. */
  living(butOf: string): Promise<string[]>;
  /** A session with all that is kept of it. False: somebody has it open, or it is not there. */
  remove(session: { agentId: string; key: string }): Promise<boolean>;
  /** Hashes of what the entries of a session have elsewhere. */
  blobsOf(session: { agentId: string; sessionId: string }): Promise<string[]>;
  /** Those of them that no row names any more. */
  dropBlobs(agentId: string, hashes: readonly string[]): Promise<void>;
  /** What reports named, by its hashes. */
  dropParts(agentId: string, hashes: readonly string[]): Promise<void>;
  /** A kept file of a home. */
  dropFile(file: Pick<FoundFile, "home" | "place">): Promise<void>;
  /** Messages that wait, by what their senders called them. */
  dropWaiting(session: { agentId: string; key: string }, names: readonly string[]): Promise<void>;
  /** What a home wrote down of model calls, which its next gateway brings there anew. */
  dropCosts(home: string): Promise<void>;
  /** Runs of a job. */
  dropRuns(id: string, runs: readonly { due: number; startedAt: number }[]): Promise<void>;
}

const LIVING: Statement<{ address: string }> = {
  name: "forget-living",
  text: `
    select distinct n.address from node n
    where ${LIVES("n")} and n.place is distinct from $1 order by n.address`,
};

const BLOBS: Statement<{ blob: string }> = {
  name: "forget-blobs",
  text: `
    select distinct blob from entry
    where agent_id = $1 and session_id = $2 and blob is not null`,
};

const PARTS: Statement<{ blob: string | null }> = {
  name: "forget-parts",
  text: `
    with uses as (delete from part_use where agent_id = $1 and hash = any ($2::text[]))
    delete from part where agent_id = $1 and hash = any ($2::text[]) returning blob`,
};

const FILE: Statement<never> = {
  name: "forget-file",
  text: `
    delete from kept_file
    where home = $1 and place_id = encode(sha256(convert_to($2, 'UTF8')), 'hex')`,
};

const WAITING: Statement<never> = {
  name: "forget-waiting",
  text: "delete from inbox where agent_id = $1 and key = $2 and id = any ($3::text[])",
};

const RUNS: Statement<never> = {
  name: "forget-runs",
  text: `
    delete from cron_run c using unnest($2::bigint[], $3::bigint[]) as r (started_at, due)
    where c.id = $1 and c.started_at = r.started_at and c.due = r.due`,
};

export function createForgetting(database: Database): Forgetting {
  const dropBlobs = async (agentId: string, hashes: readonly string[]) =>
    void (await dropUnnamed(database, agentId, hashes));
  return {
    living: async (butOf) => (await database.ask(LIVING, [butOf])).map(({ address }) => address),
    async remove({ agentId, key }) {
      const removed = await removeSession(database, { agentId, key });
      if (removed !== null) await dropBlobs(agentId, removed.blobs);
      return removed !== null;
    },
    blobsOf: async ({ agentId, sessionId }) =>
      (await database.ask(BLOBS, [agentId, sessionId])).map(({ blob }) => blob),
    dropBlobs,
    async dropParts(agentId, hashes) {
      const rows = await database.ask(PARTS, [agentId, hashes]);
      await dropBlobs(
        agentId,
        rows.flatMap(({ blob }) => blob ?? []),
      );
    },
    dropFile: async ({ home, place }) => void (await database.ask(FILE, [home, place])),
    dropWaiting: async ({ agentId, key }, names) =>
      void (await database.ask(WAITING, [agentId, key, names])),
    dropCosts: (home) => costShelf(database, home).drop(null),
    dropRuns: async (id, runs) =>
      void (await database.ask(RUNS, [
        id,
        runs.map(({ startedAt }) => startedAt),
        runs.map(({ due }) => due),
      ])),
  };
}
