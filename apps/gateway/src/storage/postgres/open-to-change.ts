// Opens sessions in PostgreSQL for a command that changes some of them.
import { rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { DeliveryLedger } from "@clew/engine-core";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { PostgresStore } from "@clew/store-postgres";
import { openBlobs } from "../../blobs/open-blobs.ts";
import { shareCosts } from "../../costs/share-costs.ts";
import { refuseTakenName } from "../../sessions/labels.ts";
import { requireSessionName } from "../../sessions/name-errors.ts";
import { VERSION } from "../../version.ts";
import { idOfHome } from "../home-id.ts";
import { loadPostgres } from "../load-postgres.ts";
import type { ChangeableSessions, StorageRequest } from "../storage.ts";
import { portsOfHome } from "./ports.ts";
import { createPostgresSessions } from "./store.ts";

/** Nobody is asked there: whoever wants a session that is changed now is told to come again. */
const NOBODY = "http://127.0.0.1:1";
const CONNECTIONS = 2;

/** Throws STORAGE_FAILED. What it has open is another gateway's as soon as it is closed. */
export async function openToChange(
  { url }: { url: string },
  { environment, config }: Pick<StorageRequest, "environment" | "config">,
): Promise<ChangeableSessions> {
  const { home } = environment;
  const { checkPostgres, openPostgresStore } = await loadPostgres();
  const check = await checkPostgres({ url, connections: CONNECTIONS });
  if (!check.ok) throw new ContextEngineError("STORAGE_FAILED", check.problem);
  const homeId = await idOfHome(home);
  const store: PostgresStore<DeliveryLedger> = await openPostgresStore({
    ...{ url, ports: portsOfHome(homeId), blobs: await openBlobs(config, environment) },
    ...{ address: NOBODY, version: VERSION, connections: CONNECTIONS },
    place: `command ${process.pid} of ${homeId} at ${hostname()}`,
  });
  // Of this process alone: a gateway of the home writes copies of its own.
  const copies = join(home, "copies", store.clusterId, `command-${process.pid}`);
  const { reportBytes } = config.gateway.limits;
  const sessions = createPostgresSessions({ store, copies, homeId, reportBytes });
  return {
    sessions,
    async label(key, label) {
      const name = requireSessionName(key);
      if (label !== null) refuseTakenName(await store.list(), name.key, label);
      return store.label({ agentId: name.agentId, key: name.key }, label);
    },
    shareCosts: () =>
      shareCosts({ home, place: store.clusterId, shelf: store.costs(homeId) }).close(),
    async close() {
      await store.close();
      await rm(copies, { recursive: true, force: true });
    },
  };
}
