// Opens the sessions of a gateway in PostgreSQL.
import { generateKeyPairSync } from "node:crypto";
import { hostname } from "node:os";
import { join } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { openBlobs } from "../../blobs/open-blobs.ts";
import { createOtherTotals } from "../../costs/other-totals.ts";
import { shareCosts } from "../../costs/share-costs.ts";
import { createStorageTally } from "../../metrics/storage-tally.ts";
import { createPeers } from "../../peers/peers.ts";
import { requireSessionName } from "../../sessions/name-errors.ts";
import { VERSION } from "../../version.ts";
import { idOfHome } from "../home-id.ts";
import { loadPostgres } from "../load-postgres.ts";
import type { Storage, StorageRequest } from "../storage.ts";
import { createChildRows } from "./child-rows.ts";
import { createPostgresJournals } from "./door-journals.ts";
import { createDoorPlaces } from "./door-places.ts";
import { createEngineRows } from "./engine-rows.ts";
import { createJobRows } from "./job-rows.ts";
import { jobsLeftIn } from "./jobs-left.ts";
import { keepIndexed } from "./keep-indexed.ts";
import { createKeptNotices } from "./kept-notices.ts";
import { createLooks } from "./looks.ts";
import { portsOfHome } from "./ports.ts";
import { createRoom } from "./room.ts";
import { createPostgresSearch } from "./search.ts";
import { createPostgresSessions } from "./store.ts";
import { beginUpkeep } from "./upkeep.ts";
import { createWaitingRows } from "./waiting-rows.ts";

/** How often a gateway looks for what others left, at most. */
const SWEEP_MS = 500;

/** How often a gateway asks for those who wait to hear who has a session, at most. */
const LOOK_MS = 250;

/** How often it looks for work of gateways that died, at least, s. */
const SUPERVISE_S = 10;

/** Throws CONFIG_INVALID and STORAGE_FAILED, each with what can be done. */
export async function openInPostgres(
  { url, connections }: { url: string; connections: number },
  { environment, config, address, log }: StorageRequest,
): Promise<Storage> {
  const { home } = environment;
  const blobs = await openBlobs(config, environment);
  const { checkPostgres, openPostgresReader, openPostgresStore } = await loadPostgres();
  const isRead = address === undefined;
  const check = await checkPostgres({ url, connections: isRead ? 1 : connections, isRead });
  if (!check.ok) throw new ContextEngineError("STORAGE_FAILED", check.problem);
  const homeId = await idOfHome(home);
  const kept = createKeptNotices(log);
  const given = { url, ports: portsOfHome(homeId), blobs, onKeptInRows: kept.add };
  const { reportBytes } = config.gateway.limits;
  if (address === undefined) {
    const store = await openPostgresReader(given);
    // A gateway of this home may write its own copies meanwhile.
    const copies = join(home, "copies", store.clusterId, "read");
    const sessions = createPostgresSessions({ store, copies, homeId, reportBytes });
    const [jobs, children] = [createJobRows(store), createChildRows(store)];
    return {
      ...{ sessions, search: createPostgresSearch(store), records: copies, jobs, children },
      otherCosts: () => store.costsOfOthers(homeId),
    };
  }
  const own = config.storage.address ?? address;
  if (new URL(own).port === "0")
    throw new ContextEngineError(
      "CONFIG_INVALID",
      "Other gateways have to find this one: give gateway.port a number, or say storage.address.",
    );
  const counts = createStorageTally();
  // Only this process has the other half, so that nobody who reads the database passes for it.
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const room = createRoom({ hasRoom: () => store.hasRoom() });
  const store = await openPostgresStore({
    ...{ ...given, connections, address: own, version: VERSION },
    publicKey: publicKey.export({ format: "der", type: "spki" }).toString("base64"),
    onRoundTrip(trip) {
      counts.take(trip);
      room.take(trip);
    },
    place: `${homeId} at ${hostname()}`,
    ttlMs: config.storage.deadAfterSeconds * 1000,
  });
  const copies = join(home, "copies", store.clusterId, "gateway");
  const queue = await store
    .openQueue({
      onTrouble: (why) => log?.warn(`what gateways do together waits: ${why}`),
      superviseSeconds: Math.min(SUPERVISE_S, Math.ceil(config.storage.deadAfterSeconds)),
    })
    .catch(async (error: unknown) => {
      await store.close();
      throw error;
    });
  const everyMs = Math.min(SWEEP_MS, config.storage.deadAfterSeconds * 100);
  const waiting = createWaitingRows({ store, everyMs });
  const inbox = waiting.shared;
  const indexing = keepIndexed({ indexNext: store.indexNext });
  const { onTurnEnd } = indexing;
  const jobs = createJobRows(store);
  const left = log && (await jobsLeftIn(home, jobs));
  if (left !== undefined) log?.warn(left);
  await beginUpkeep({ queue, store, log, indexing, hasBlobs: blobs !== undefined });
  const engineRows = createEngineRows(store);
  const journals = createPostgresJournals({ store, rows: engineRows });
  const costs = shareCosts({
    ...{ home, place: store.clusterId, shelf: store.costs(homeId), log },
  });
  const door = createDoorPlaces(store, { deadAfterMs: config.storage.deadAfterSeconds * 1000 });
  const signer = { nodeId: store.nodeId, privateKey };
  const peers = createPeers({ signer, address: own, ask: store.peers });
  const { look } = createLooks({
    everyMs: LOOK_MS,
    async ask(sessions) {
      const asked = sessions.map(({ key, name: message }) => {
        const { agentId, key: canonical } = requireSessionName(key);
        return { agentId, key: canonical, message };
      });
      const standings = await store.standings(asked);
      return standings.map(({ address: owner, inTurn: isInTurn, isKept }) => ({
        ...{ owner, isInTurn, isKept },
      }));
    },
  });
  return {
    sessions: createPostgresSessions({
      ...{ store, copies, homeId, reportBytes, inbox, engineRows, onTurnEnd, kept },
      ...(config.door.enabled && { door }),
    }),
    ...{
      search: createPostgresSearch(store),
      records: copies,
      waiting,
      engineRows,
      journals,
      otherCosts: () => store.costsOfOthers(homeId),
      otherTotals: createOtherTotals(store.followCosts(homeId)),
      shareCosts: costs.share,
      counts,
      room,
      jobs,
      queue,
      children: createChildRows(store),
    },
    cluster: {
      address: own,
      ...{ alive: store.alive, settle: store.settle },
      ...{ look, door, peers },
      async ownerOf(key) {
        const { agentId, key: canonical } = requireSessionName(key);
        const name = { agentId, key: canonical };
        if (store.holds(name)) return own;
        const owner = await store.ownerOf(name);
        return owner ?? (config.door.enabled ? door.ownerOf(name) : null);
      },
      async close() {
        await costs.close();
        await indexing.close();
        await queue.stop();
        await store.close();
      },
    },
  };
}
