// Knows whether the disk of a database is full, once something could not be stored.
import type { RoundTrip } from "@clew/store-postgres";
import type { StorageRoom } from "../storage.ts";

export interface Room extends StorageRoom {
  take(trip: RoundTrip): void;
}

/** Between two tries whether there is room again, ms. */
const AGAIN_MS = 2000;

/** `hasRoom`: tries it; null: nobody may try. */
export function createRoom({
  hasRoom,
  now = () => performance.now(),
}: {
  hasRoom(): Promise<boolean | null>;
  now?: () => number;
}): Room {
  let isFull = false;
  let triedAt = 0;
  return {
    take({ failed }) {
      if (failed !== "full" || isFull) return;
      isFull = true;
      triedAt = now();
    },
    async whyNot() {
      if (isFull && now() - triedAt >= AGAIN_MS) {
        triedAt = now();
        isFull = (await hasRoom()) === false;
      }
      return isFull ? FULL : undefined;
    },
  };
}

const FULL =
  "PostgreSQL has no room left for what is said, on its disk or in its memory; free some there.";
