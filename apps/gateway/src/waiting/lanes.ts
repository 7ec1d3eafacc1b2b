// Knows what stands in each session, and keeps on disk what of that waits.
import type { LogPort } from "@clew/engine-core";
import type { Item } from "./item.ts";
import type { WaitingStore } from "./waiting-store.ts";

/** What stands in one session. */
export interface Lane {
  key: string;
  /** In order; the one whose turn runs is not among them once it is stored. */
  items: Item[];
  running: Item | undefined;
  /** Those that the running turn took in. */
  joined: Item[];
}

export interface WaitingNews {
  session: string;
  change: "added" | "begun" | "steered" | "cancelled" | "failed";
  messageId: string;
  /** Messages that wait in the session now. */
  waiting: number;
}

export interface Lanes {
  /** Undefined: nothing stands there. */
  get(key: string): Lane | undefined;
  all(): Lane[];
  /** It is there until it is tidied away. */
  of(key: string): Lane;
  /** An empty lane goes away. */
  tidy(lane: Lane): void;
  /** Messages that wait, of a session or of all. */
  waitingIn(lane: Lane | undefined): Item[];
  backlog(): number;
  /** Whose requests wait for their turn, and are told of what becomes of them. */
  clientsIn(lane: Lane | undefined): Item[];
  /** The message of this name that waits there, or has its turn. */
  known(key: string, name: string | undefined): Item | undefined;
  /** Durable when it resolves; nothing of it stays where it could not be stored. */
  keep(lane: Lane, item: Item): Promise<void>;
  /** It is said in its session, or will not be; what is left of it in the file is harmless. */
  forget(lane: Lane, item: Item): Promise<void>;
  /** As `forget`; what cannot be written is logged. */
  forgetQuietly(lane: Lane, item: Item): Promise<void>;
  news(lane: Lane, item: Item, change: WaitingNews["change"]): void;
}

export function createLanes({
  store,
  log,
  tell,
}: {
  store: Pick<WaitingStore, "save">;
  log: LogPort;
  tell: (event: WaitingNews) => void;
}): Lanes {
  const lanes = new Map<string, Lane>();
  const waitingIn: Lanes["waitingIn"] = (lane) =>
    (lane?.items ?? []).filter((item) => item.isKept || item.state !== "running");
  /** Of the lane that the session has when it is written: there may be another one by then. */
  const save = ({ key }: Lane) =>
    store.save(key, () =>
      (lanes.get(key)?.items ?? []).flatMap(({ isKept, message }) => (isKept ? [message] : [])),
    );
  const tidy = (lane: Lane) => {
    const isEmpty = lane.items.length === 0 && lane.running === undefined;
    if (isEmpty && lanes.get(lane.key) === lane) lanes.delete(lane.key);
  };
  const forget: Lanes["forget"] = async (lane, item) => {
    lane.items = lane.items.filter((other) => other !== item);
    tidy(lane);
    if (item.isKept) await save(lane);
  };
  return {
    get: (key) => lanes.get(key),
    all: () => [...lanes.values()],
    of(key) {
      const lane = lanes.get(key) ?? { key, items: [], running: undefined, joined: [] };
      lanes.set(key, lane);
      return lane;
    },
    ...{ tidy, waitingIn, forget },
    backlog() {
      let count = 0;
      for (const lane of lanes.values()) count += waitingIn(lane).length;
      return count;
    },
    clientsIn: (lane) =>
      (lane?.items ?? []).filter(
        ({ request, state }) => request.client !== undefined && state === "waiting",
      ),
    known(key, name) {
      const lane = lanes.get(key);
      if (name === undefined || lane === undefined) return undefined;
      const standing = [lane.running, ...lane.items, ...lane.joined];
      return standing.find((item) => item?.message.idempotencyKey === name);
    },
    async keep(lane, item) {
      try {
        await save(lane);
      } catch (error) {
        item.isKept = false;
        lane.items = lane.items.filter((other) => other !== item);
        throw error;
      }
    },
    forgetQuietly: (lane, item) =>
      forget(lane, item).catch((error: Error) =>
        log.warn(
          `a message that is said already is still kept as one that waits: ${error.message}`,
        ),
      ),
    news: (lane, { message: { id } }, change) =>
      tell({ session: lane.key, change, messageId: id, waiting: waitingIn(lane).length }),
  };
}
